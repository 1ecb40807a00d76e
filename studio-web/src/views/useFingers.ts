// Binds the conversation about learned fingers to their picture, the pointer and the keys.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Vector3 } from "three";

import { useShortcuts } from "../data/keys";
import { listenForGrabs } from "../data/pointer";
import { server } from "../data/server";
import { Steering } from "../data/steering";
import { tell } from "../data/toasts";
import { toZUp } from "../scene/axes";
import { FingersStage } from "../scene/fingersScene";
import { modelOf } from "../scene/models";
import { painter } from "../scene/painter";
import { useLiveLine } from "./useLiveLine";

type Side = "right" | "left";
/** s between two wishes that are sent. */
const PACE = 1 / 60;
/** rad for each pixel and for each notch of a wheel. */
const [PER_PIXEL, PER_NOTCH] = [0.008, 0.12];

export const SIDES: Record<string, Side[]> = {
  right: ["right"],
  left: ["left"],
  both: ["right", "left"],
};

export function useFingers(hands: string) {
  const props = useSignal<string[]>([]);
  const prop = useSignal("");
  const isFetching = useSignal(false);
  const steering = useMemo(() => new Steering(), []);
  const sides = SIDES[hands] ?? ["right"];
  let lastSent = 0;

  useEffect(() => () => steering.dispose(), []);
  useEffect(() => {
    server.props().then(
      (found) => (props.value = found),
      (error: Error) => tell(error.message, "bad"),
    );
  }, []);

  const move = (event: PointerEvent, stage: FingersStage) => {
    const now = performance.now() / 1000;
    if (!stage.drag || now - lastSent < PACE) return;
    lastSent = now;
    const place = stage.place(event);
    if (event.shiftKey) {
      const away = painter().camera.getWorldDirection(new Vector3()).setY(0).normalize();
      const right = away.cross(new Vector3(0, 1, 0));
      const turn = right.multiplyScalar(event.movementY * PER_PIXEL);
      turn.y = event.movementX * PER_PIXEL;
      line.say({ kind: "move", turn: toZUp(turn) });
    } else if (place) {
      line.say({ kind: "move", place: toZUp(place) });
    }
  };
  const listen = (element: HTMLElement, stage: FingersStage) => {
    const stop = listenForGrabs(element, {
      take: (event) => {
        if (!stage.grab(event)) return false;
        element.dataset.grabbed = "prop";
        return true;
      },
      move: (event) => move(event, stage),
      letGo: () => {
        stage.letGo();
        delete element.dataset.grabbed;
      },
    });
    const wheel = (event: WheelEvent) => {
      if (!stage.drag) return;
      event.stopPropagation();
      event.preventDefault();
      line.say({ kind: "move", turn: [0, 0, Math.sign(event.deltaY) * PER_NOTCH] });
    };
    element.addEventListener("wheel", wheel, { capture: true, passive: false });
    return () => {
      stop();
      element.removeEventListener("wheel", wheel, { capture: true });
    };
  };
  const line = useLiveLine<FingersStage>(
    {
      name: "fingers",
      start: { kind: "fingers", hands: sides },
      stops: false,
      picture: (element, cell, drawn) => new FingersStage(element, cell, hands, drawn),
      began: (_, model) => (prop.value = [...model.bodies.keys()][0] ?? ""),
      came: () => {
        const wish = steering.take(painter().camera);
        if (wish) line.say({ kind: "move", shift: toZUp(wish.shift), turn: toZUp(wish.turn) });
      },
      looked: (frame, before) => {
        const note = frame.fingers?.note;
        if (note && note !== before?.fingers?.note) tell(note, "bad");
      },
      listen,
    },
    hands,
  );

  const isHeld = (side: Side) => {
    const phase = line.facts.value?.fingers?.hands.find((hand) => hand.name === side)?.phase;
    return phase === "holding" || phase === "reaching";
  };
  const toggle = (side: Side) => line.say({ kind: isHeld(side) ? "let_go" : "take", hand: side });
  /** Brings another prop: its surface first, so that it can be shown as soon as it is there. */
  const choose = async (name: string) => {
    // A list that keeps the keys would change with every letter.
    if (document.activeElement instanceof HTMLSelectElement) document.activeElement.blur();
    prop.value = name;
    const stage = line.picture.current;
    if (!stage?.has(name)) {
      isFetching.value = true;
      try {
        stage?.add(name, await modelOf(`prop:${name}`, () => server.propModel(name)));
        // The shown hands are kept, however many props have come and gone.
        modelOf("fingers", () => Promise.reject(new Error("no hands"))).catch(() => undefined);
      } catch (error) {
        tell(error instanceof Error ? error.message : String(error), "bad");
        return;
      } finally {
        isFetching.value = false;
      }
    }
    // Meanwhile another one may have been chosen.
    if (prop.value === name) line.say({ kind: "swap", prop: name });
  };
  const next = (step: number) => {
    const { value: names } = props;
    const at = names.indexOf(prop.value) + step;
    const name = names[(at + names.length) % names.length];
    if (name) void choose(name);
  };
  const record = () =>
    line.say({ kind: line.facts.value?.fingers?.recorded == null ? "record" : "save" });
  const [first = "right", second] = sides;
  useShortcuts("Learned fingers", [
    { keys: [" "], label: `Take or let go, ${first} hand`, does: () => toggle(first) },
    ...(second
      ? [{ keys: ["Enter"], label: `Take or let go, ${second} hand`, does: () => toggle(second) }]
      : []),
    ...steering.shortcuts,
    { keys: ["n"], label: "Next prop", does: () => next(1) },
    { keys: ["r"], label: "Start again", does: line.reset },
    { keys: ["c"], label: "Record a clip, or stop", does: record },
  ]);
  return { ...line, props, prop, isFetching, sides, isHeld, toggle, choose, record };
}
