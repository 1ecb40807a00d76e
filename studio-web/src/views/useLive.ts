// Binds the conversation with a live scene to its picture and to the pointer.
import { useSignal } from "@preact/signals";

import { useShortcuts } from "../data/keys";
import { listenForGrabs } from "../data/pointer";
import { toZUp } from "../scene/axes";
import { LiveStage } from "../scene/liveScene";
import { useLiveLine } from "./useLiveLine";

/** s between two pushes that are sent. */
const PACE = 1 / 30;

export function useLive(scene: string) {
  const isPaused = useSignal(false);
  const newtons = useSignal<number | null>(null);
  let lastSent = 0;

  const push = ({ pull }: LiveStage) => {
    const now = performance.now() / 1000;
    newtons.value = pull ? pull.force.length() : null;
    if (!pull || now - lastSent < PACE) return;
    lastSent = now;
    line.say({
      kind: "push",
      body: pull.body,
      point: toZUp(pull.grabbed),
      force: toZUp(pull.force),
    });
  };
  const line = useLiveLine<LiveStage>(
    {
      name: "live",
      start: { kind: "start", scene },
      stops: true,
      picture: (element, cell, drawn) => new LiveStage(element, cell, drawn),
      began: () => (isPaused.value = false),
      came: (_, stage) => push(stage),
      listen: (element, stage) =>
        listenForGrabs(element, {
          take: (event) => {
            if (!stage.grab(event)) return false;
            newtons.value = 0;
            return true;
          },
          move: (event) => {
            if (!stage.pull) return;
            stage.move(event);
            push(stage);
          },
          letGo: () => {
            if (!stage.pull) return;
            stage.letGo();
            newtons.value = null;
            line.say({ kind: "release" });
          },
        }),
    },
    scene,
  );

  const togglePause = () => {
    isPaused.value = !isPaused.value;
    line.say({ kind: isPaused.value ? "pause" : "resume" });
  };
  const save = () => line.say({ kind: "save" });
  useShortcuts("Live", [
    { keys: [" "], label: "Pause or go on", does: togglePause },
    { keys: ["r"], label: "Start again", does: line.reset },
    { keys: ["s"], label: "Save as clip", does: save },
  ]);
  return { ...line, isPaused, newtons, togglePause, save };
}
