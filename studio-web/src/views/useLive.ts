// Binds the conversation with a live scene to its picture and to the pointer.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { useShortcuts } from "../data/keys";
import { LiveLine } from "../data/live";
import { markReady } from "../data/route";
import { server } from "../data/server";
import { tell } from "../data/toasts";
import type { LiveFrame } from "../messages";
import { toZUp } from "../scene/axes";
import { LiveStage } from "../scene/liveScene";
import { forget, modelOf } from "../scene/models";

/** s between two pushes that are sent. */
const PACE = 1 / 30;

export function useLive(scene: string) {
  const container = useRef<HTMLDivElement>(null);
  const cell = useRef<HTMLDivElement>(null);
  const line = useRef<LiveLine | null>(null);
  const state = useSignal<"preparing" | "running" | "trouble">("preparing");
  const message = useSignal("");
  const isPaused = useSignal(false);
  const newtons = useSignal<number | null>(null);
  const time = useSignal(0);
  const fps = useSignal(0);
  /** Grows when a lost connection is made anew. */
  const attempts = useSignal(0);

  useEffect(() => {
    const element = container.current!;
    state.value = "preparing";
    const stage = new LiveStage(element, cell.current!, () => markReady("live"));
    let loaded: Promise<unknown> = Promise.resolve();
    let lastSent = 0;
    let isGone = false;
    const send = () => {
      const { pull } = stage;
      const now = performance.now() / 1000;
      newtons.value = pull ? pull.force.length() : null;
      if (!pull || now - lastSent < PACE) return;
      lastSent = now;
      line.current?.say({
        kind: "push",
        body: pull.body,
        point: toZUp(pull.grabbed),
        force: toZUp(pull.force),
      });
    };
    const take = (frame: LiveFrame) => {
      if (frame.kind === "preparing") {
        state.value = "preparing";
        message.value = frame.message;
      } else if (frame.kind === "ready") {
        forget("live");
        loaded = modelOf("live", () => server.binary(frame.model)).then((model) => {
          // The picture may belong to another view by now.
          if (isGone) return;
          stage.show(model);
          state.value = "running";
          isPaused.value = false;
        });
        loaded.catch((error: unknown) => {
          if (!isGone) fail(error instanceof Error ? error.message : String(error));
        });
      } else if (frame.kind === "frame") {
        const show = () => {
          if (isGone) return;
          // A refused wish does not stop the scene.
          if (state.value === "trouble") state.value = "running";
          stage.apply(frame);
          time.value = frame.time;
          fps.value = frame.fps;
          send();
        };
        // A model that could not be loaded has been told of already.
        loaded.then(show, () => undefined);
      } else if (frame.kind === "saved") {
        tell("Saved. The clip is on the wall.");
      } else {
        fail(frame.message);
      }
    };
    const fail = (text: string) => {
      message.value = text;
      state.value = "trouble";
    };
    const made = new LiveLine(take, fail, () => made.say({ kind: "start", scene }));
    line.current = made;

    // Before the camera's own listener, which must not see a grab.
    const grab = (event: PointerEvent) => {
      if (event.button !== 0 || !stage.grab(event)) return;
      event.stopPropagation();
      element.setPointerCapture(event.pointerId);
      newtons.value = 0;
    };
    const move = (event: PointerEvent) => {
      if (!stage.pull) return;
      stage.move(event);
      send();
    };
    const letGo = () => {
      if (!stage.pull) return;
      stage.letGo();
      newtons.value = null;
      made.say({ kind: "release" });
    };
    element.addEventListener("pointerdown", grab, { capture: true });
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", letGo);
    element.addEventListener("pointercancel", letGo);
    return () => {
      isGone = true;
      element.removeEventListener("pointerdown", grab, { capture: true });
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", letGo);
      element.removeEventListener("pointercancel", letGo);
      made.close();
      stage.dispose();
      forget("live");
    };
  }, [scene, attempts.value]);

  const togglePause = () => {
    isPaused.value = !isPaused.value;
    line.current?.say({ kind: isPaused.value ? "pause" : "resume" });
  };
  const reset = () => {
    if (line.current?.isOpen) line.current.say({ kind: "reset" });
    else attempts.value += 1;
  };
  const save = () => line.current?.say({ kind: "save" });
  useShortcuts("Live", [
    { keys: [" "], label: "Pause or go on", does: togglePause },
    { keys: ["r"], label: "Start again", does: reset },
    { keys: ["s"], label: "Save as clip", does: save },
  ]);
  return {
    container,
    cell,
    state,
    message,
    isPaused,
    newtons,
    time,
    fps,
    togglePause,
    reset,
    save,
  };
}
