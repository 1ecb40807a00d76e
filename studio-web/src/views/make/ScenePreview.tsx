// The scene as it is given, or a motion found for it, with pins and goals that are set in it.
import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Vector3 } from "three";

import { aiming, basis, change, draft, pinning, shownGoals } from "../../data/draft";
import { clipTitle } from "../../data/names";
import { evenFrames, frame, frameTimes, setFrames, time } from "../../data/playback";
import { markReady } from "../../data/route";
import { server } from "../../data/server";
import { clipModel } from "../../data/source";
import { clipById } from "../../data/store";
import type { GoalRequest, SceneInfo, Timeline } from "../../messages";
import { words } from "../../parts/format";
import { toYUp, toZUp } from "../../scene/axes";
import { GoalGhosts } from "../../scene/ghosts";
import { GoalGizmo } from "../../scene/goalGizmo";
import { modelOf } from "../../scene/models";
import { painter } from "../../scene/painter";
import { pickBody } from "../../scene/picking";
import { PinMarks } from "../../scene/pinMarks";
import { Player } from "../../scene/player";
import { gizmoMode } from "./GoalForm";

function goalOf(body: string): GoalRequest | undefined {
  return shownGoals.peek().find((goal) => goal.body === body);
}

/** Where bodies end up, to the width of each, in the axes of the picture. */
function goalCorners(scene: SceneInfo): Vector3[] {
  return shownGoals.peek().flatMap((goal) => {
    const edges = scene.bodies.find((body) => body.name === goal.body)?.size ?? [0, 0, 0];
    const reach = Math.hypot(...edges) / 2;
    return [-reach, reach].flatMap((by) =>
      [0, 1, 2].map((axis) => {
        const corner = toYUp(goal.position);
        return corner.setComponent(axis, corner.getComponent(axis) + by);
      }),
    );
  });
}

export function ScenePreview({ scene }: { scene: SceneInfo }) {
  const container = useRef<HTMLDivElement>(null);
  const cell = useRef<HTMLDivElement>(null);
  const player = useRef<Player | null>(null);
  const trouble = useSignal<string | null>(null);
  const clip = basis.value ? clipById(basis.value) : undefined;
  const key = clip ? `clip ${clip.id}` : `scene ${scene.name}`;

  useEffect(() => {
    setFrames(evenFrames(scene.duration, clip?.num_frames ?? scene.num_frames));
    const made = new Player(container.current!, () => markReady("editor"));
    player.current = made;
    const pins = new PinMarks();
    const ghosts = new GoalGhosts();
    const gizmo = new GoalGizmo(container.current!, (position, wxyz) => {
      const body = aiming.peek();
      if (!body) return;
      const old = goalOf(body);
      const turned = gizmoMode.peek() === "rotate" || (old?.wxyz ?? null) !== null;
      const goal = {
        body,
        position,
        wxyz: turned ? wxyz : null,
        time: old?.time ?? scene.duration,
      };
      change({ goals: { ...draft.peek().goals, [body]: goal } });
    });
    made.beforeDraw = (model) => pins.place(model, time.peek());
    made.show([
      {
        key,
        element: cell.current!,
        group: key,
        more: goalCorners(scene),
        model: () =>
          clip ? clipModel(clip.id) : modelOf(key, () => server.sceneModel(scene.name)),
        timeline: () => Promise.reject<Timeline>(new Error("A scene has no timeline.")),
      },
    ]);
    const stops = [
      made.states.subscribe((states) => {
        const state = states.get(key);
        trouble.value = typeof state === "object" ? state.trouble : null;
      }),
      effect(() => {
        pins.setPins(draft.value.pins);
        painter().invalidate();
      }),
      effect(() => gizmo.controls.setMode(gizmoMode.value)),
      effect(() => {
        void made.states.value;
        const model = made.modelOf(key);
        const others = shownGoals.value.filter((goal) => goal.body !== aiming.value);
        if (model) ghosts.show(model, others);
        painter().invalidate();
      }),
      effect(() => {
        void made.states.value;
        const body = aiming.value;
        const model = made.modelOf(key);
        // Not whenever it changes: it changes while the gizmo is dragged.
        if (body && model) gizmo.aim(model, body, goalOf(body));
        else gizmo.controls.detach();
        const dragged = body ? [gizmo.ghost, gizmo.controls.getHelper()] : [];
        made.setExtras([pins.group, ghosts.group, ...dragged]);
      }),
    ];
    return () => {
      stops.forEach((stop) => stop());
      gizmo.dispose();
      ghosts.dispose();
      pins.clear();
      made.dispose();
      player.current = null;
    };
  }, [key]);

  const down = useRef({ x: 0, y: 0 });
  const click = (event: MouseEvent) => {
    const digit = pinning.value;
    const model = player.current?.modelOf(key);
    const moved = Math.hypot(event.clientX - down.current.x, event.clientY - down.current.y);
    if (!digit || !model || moved > 4) return;
    const hit = pickBody(event, cell.current!, painter().camera, model);
    if (!hit) return;
    const point = toZUp(hit.node.worldToLocal(hit.point.clone()));
    const start = frameTimes.value[frame.value] ?? 0;
    change({ pins: [...draft.value.pins, { digit, point, start, end: null, body: hit.body }] });
    pinning.value = null;
  };
  return (
    <div
      ref={container}
      class={`views stage-view ${pinning.value ? "is-pinning" : ""}`}
      data-testid="preview"
      onPointerDown={(event) => (down.current = { x: event.clientX, y: event.clientY })}
      onClick={click}
    >
      <div ref={cell} class="cell">
        <header class="cell-head">
          <span class="cell-title">{clip ? `From ${clipTitle(clip)}` : words(scene.name)}</span>
          {clip && (
            <button
              type="button"
              class="button button-quiet"
              onPointerDown={(event) => event.stopPropagation()}
              onClick={() => (basis.value = null)}
            >
              Show the bare scene
            </button>
          )}
        </header>
        {trouble.value && <p class="cell-trouble">{trouble.value}</p>}
        {pinning.value && (
          <p class="hint" role="status" data-testid="pin-hint">
            Click where the {words(pinning.value).toLowerCase()} must touch, at{" "}
            {time.value.toFixed(2)} s
          </p>
        )}
      </div>
    </div>
  );
}
