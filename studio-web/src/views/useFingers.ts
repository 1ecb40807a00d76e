// Binds the conversation about learned fingers to their picture, the pointer and the keys.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Vector3 } from "three";

import { useShortcuts } from "../data/keys";
import { LiveLine } from "../data/live";
import { markReady } from "../data/route";
import { server } from "../data/server";
import { Steering } from "../data/steering";
import { tell } from "../data/toasts";
import type { LiveFrame } from "../messages";
import { toZUp } from "../scene/axes";
import { FingersStage } from "../scene/fingersScene";
import { forget, modelOf } from "../scene/models";
import { painter } from "../scene/painter";

type Side = "right" | "left";
/** s between two wishes that are sent, and between two looks of the page at figures. */
const [PACE, LOOK] = [1 / 60, 1 / 8];
/** rad for each pixel and for each notch of a wheel. */
const [PER_PIXEL, PER_NOTCH] = [0.008, 0.12];

export const SIDES: Record<string, Side[]> = {
  right: ["right"],
  left: ["left"],
  both: ["right", "left"],
};

export function useFingers(hands: string) {
  const container = useRef<HTMLDivElement>(null);
  const cell = useRef<HTMLDivElement>(null);
  const line = useRef<LiveLine | null>(null);
  const stage = useRef<FingersStage | null>(null);
  const state = useSignal<"preparing" | "running" | "trouble">("preparing");
  const message = useSignal("");
  const props = useSignal<string[]>([]);
  const prop = useSignal("");
  const isFetching = useSignal(false);
  /** What is told in figures; not every frame, which would cost more than drawing it. */
  const facts = useSignal<LiveFrame | null>(null);
  const attempts = useSignal(0);
  const steering = useMemo(() => new Steering(), []);
  const sides = SIDES[hands] ?? ["right"];

  useEffect(() => () => steering.dispose(), []);
  useEffect(() => {
    server.props().then(
      (found) => (props.value = found),
      (error: Error) => tell(error.message, "bad"),
    );
  }, []);

  useEffect(() => {
    const element = container.current!;
    state.value = "preparing";
    const shown = new FingersStage(element, cell.current!, hands, () => markReady("fingers"));
    stage.current = shown;
    let loaded: Promise<unknown> = Promise.resolve();
    let [lastSent, lastLook] = [0, 0];
    let isGone = false;
    const fail = (text: string) => {
      message.value = text;
      state.value = "trouble";
    };
    const steer = () => {
      const wish = steering.take(painter().camera);
      if (wish) made.say({ kind: "move", shift: toZUp(wish.shift), turn: toZUp(wish.turn) });
    };
    const look = (frame: LiveFrame) => {
      const now = performance.now() / 1000;
      if (now - lastLook < LOOK) return;
      lastLook = now;
      if (frame.fingers?.note && frame.fingers.note !== facts.value?.fingers?.note)
        tell(frame.fingers.note, "bad");
      facts.value = frame;
    };
    const take = (frame: LiveFrame) => {
      if (frame.kind === "preparing") {
        state.value = "preparing";
        message.value = frame.message;
      } else if (frame.kind === "ready") {
        forget("fingers");
        loaded = modelOf("fingers", () => server.binary(frame.model)).then((model) => {
          if (isGone) return;
          shown.show(model);
          prop.value = [...model.bodies.keys()][0] ?? "";
          state.value = "running";
        });
        loaded.catch((error: Error) => void (isGone || fail(error.message)));
      } else if (frame.kind === "frame") {
        const show = () => {
          if (isGone) return;
          made.say({ kind: "seen" });
          if (state.value === "preparing") return;
          if (state.value === "trouble") state.value = "running";
          shown.apply(frame);
          look(frame);
          steer();
        };
        loaded.then(show, () => undefined);
      } else if (frame.kind === "saved") {
        tell("Saved. The clip is on the wall.");
      } else if (state.value === "running") {
        // A refused wish does not stop the hands.
        tell(frame.message, "bad");
      } else {
        fail(frame.message);
      }
    };
    const made = new LiveLine(take, fail, () => made.say({ kind: "fingers", hands: sides }));
    line.current = made;

    // Before the camera's own listeners, which must not see what is done to the prop.
    const grab = (event: PointerEvent) => {
      if (event.button !== 0 || !shown.grab(event)) return;
      event.stopPropagation();
      element.setPointerCapture(event.pointerId);
      element.dataset.grabbed = "prop";
    };
    const move = (event: PointerEvent) => {
      const now = performance.now() / 1000;
      if (!shown.drag || now - lastSent < PACE) return;
      lastSent = now;
      const place = shown.place(event);
      if (event.shiftKey) {
        const away = painter().camera.getWorldDirection(new Vector3()).setY(0).normalize();
        const right = away.cross(new Vector3(0, 1, 0));
        const turn = right.multiplyScalar(event.movementY * PER_PIXEL);
        turn.y = event.movementX * PER_PIXEL;
        made.say({ kind: "move", turn: toZUp(turn) });
      } else if (place) {
        made.say({ kind: "move", place: toZUp(place) });
      }
    };
    const wheel = (event: WheelEvent) => {
      if (!shown.drag) return;
      event.stopPropagation();
      event.preventDefault();
      made.say({ kind: "move", turn: [0, 0, Math.sign(event.deltaY) * PER_NOTCH] });
    };
    const letGo = () => {
      shown.letGo();
      delete element.dataset.grabbed;
    };
    element.addEventListener("pointerdown", grab, { capture: true });
    element.addEventListener("pointermove", move);
    element.addEventListener("wheel", wheel, { capture: true, passive: false });
    element.addEventListener("pointerup", letGo);
    element.addEventListener("pointercancel", letGo);
    return () => {
      isGone = true;
      element.removeEventListener("pointerdown", grab, { capture: true });
      element.removeEventListener("pointermove", move);
      element.removeEventListener("wheel", wheel, { capture: true });
      element.removeEventListener("pointerup", letGo);
      element.removeEventListener("pointercancel", letGo);
      made.close();
      shown.dispose();
      forget("fingers");
    };
  }, [attempts.value]);

  const isHeld = (side: Side) => {
    const phase = facts.value?.fingers?.hands.find((hand) => hand.name === side)?.phase;
    return phase === "holding" || phase === "reaching";
  };
  const toggle = (side: Side) =>
    line.current?.say({ kind: isHeld(side) ? "let_go" : "take", hand: side });
  /** Brings another prop: its surface first, so that it can be shown as soon as it is there. */
  const choose = async (name: string) => {
    // A list that keeps the keys would change with every letter.
    if (document.activeElement instanceof HTMLSelectElement) document.activeElement.blur();
    prop.value = name;
    if (!stage.current?.has(name)) {
      isFetching.value = true;
      try {
        stage.current?.add(name, await modelOf(`prop:${name}`, () => server.propModel(name)));
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
    if (prop.value === name) line.current?.say({ kind: "swap", prop: name });
  };
  const next = (step: number) => {
    const { value: names } = props;
    const at = names.indexOf(prop.value) + step;
    const name = names[(at + names.length) % names.length];
    if (name) void choose(name);
  };
  const reset = () => {
    if (line.current?.isOpen) line.current.say({ kind: "reset" });
    else attempts.value += 1;
  };
  const record = () =>
    line.current?.say({ kind: facts.value?.fingers?.recorded == null ? "record" : "save" });
  const [first = "right", second] = sides;
  useShortcuts("Learned fingers", [
    { keys: [" "], label: `Take or let go, ${first} hand`, does: () => toggle(first) },
    ...(second
      ? [{ keys: ["Enter"], label: `Take or let go, ${second} hand`, does: () => toggle(second) }]
      : []),
    ...steering.shortcuts,
    { keys: ["n"], label: "Next prop", does: () => next(1) },
    { keys: ["r"], label: "Start again", does: reset },
    { keys: ["c"], label: "Record a clip, or stop", does: record },
  ]);
  return {
    container,
    cell,
    state,
    message,
    props,
    prop,
    isFetching,
    facts,
    sides,
    isHeld,
    toggle,
    choose,
    reset,
    record,
  };
}
