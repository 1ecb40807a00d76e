// The scene as it is given, or a motion found for it, with pins and goals that are set in it.
import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { aiming, basis, change, draft, pinning } from "../../data/draft";
import { evenFrames, frame, frameTimes, setFrames, time } from "../../data/playback";
import { markReady } from "../../data/route";
import { server } from "../../data/server";
import { clipModel } from "../../data/source";
import { clipById } from "../../data/store";
import type { SceneInfo, Timeline } from "../../messages";
import { clipTitle, words } from "../../parts/format";
import { toZUp } from "../../scene/axes";
import { GoalGizmo } from "../../scene/goalGizmo";
import { modelOf } from "../../scene/models";
import { painter } from "../../scene/painter";
import { pickBody } from "../../scene/picking";
import { PinMarks } from "../../scene/pinMarks";
import { Player } from "../../scene/player";
import { gizmoMode } from "./GoalForm";

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
    const gizmo = new GoalGizmo(container.current!, (position, wxyz) => {
      const body = aiming.peek();
      if (!body) return;
      const old = draft.peek().goals[body];
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
        const body = aiming.value;
        const model = made.modelOf(key);
        if (body && model) gizmo.aim(model, body, draft.peek().goals[body]);
        else gizmo.controls.detach();
        made.setExtras(body ? [pins.group, gizmo.ghost, gizmo.controls.getHelper()] : [pins.group]);
      }),
    ];
    return () => {
      stops.forEach((stop) => stop());
      gizmo.dispose();
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
    change({ pins: [...draft.value.pins, { digit, point, start, end: null }] });
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
