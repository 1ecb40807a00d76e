// Binds the conversation with an arm that throws to its pictures, the pointer and the keys.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { useShortcuts } from "../data/keys";
import { listenForGrabs } from "../data/pointer";
import { Steering } from "../data/steering";
import { tell } from "../data/toasts";
import type { LiveCommand, ThrowingChoices, ThrowingState } from "../messages";
import { toZUp } from "../scene/axes";
import { painter } from "../scene/painter";
import { ThrowingStage } from "../scene/throwingScene";
import { useLiveLine } from "./useLiveLine";

/** s between two wishes that are sent. */
const PACE = 1 / 60;
/** m for each step of the slider and the fields. */
export const FINE = 0.01;

type Target = ThrowingState["target"];

function within(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

export function useThrowing() {
  const closeCell = useRef<HTMLDivElement>(null);
  const choices = useSignal<ThrowingChoices | null>(null);
  const isPaused = useSignal(false);
  /** What the user asks for, which is ahead of what the server tells. */
  const thing = useSignal("");
  const target = useSignal<Target>("height");
  const height = useSignal(0);
  const box = useSignal<number[]>([0, 0, 0]);
  const steering = useMemo(() => new Steering(false), []);
  /** Whether wishes are taken from the next frame: at first, and when one was refused. */
  let isStale = true;
  let lastSent = 0;

  useEffect(() => () => steering.dispose(), []);

  const aim = (wish: Omit<LiveCommand, "kind">) => line.say({ kind: "aim", ...wish });
  const setHeight = (value: number) => {
    const [low = 0, high = 0] = choices.value?.heights ?? [];
    height.value = within(value, low, high);
    aim({ height: height.value });
  };
  const setBox = (place: readonly number[]) => {
    const { box_low: low, box_high: high } = choices.value ?? { box_low: [], box_high: [] };
    const kept = place.map((x, i) => within(x, low[i] ?? x, high[i] ?? x));
    box.value = kept;
    aim({ place: kept as [number, number, number] });
  };
  const steer = () => {
    const wish = steering.take(painter().camera);
    if (!wish) return;
    const shift = toZUp(wish.shift);
    if (target.value === "height") setHeight(height.value + shift[2]);
    else if (target.value === "box") setBox(box.value.map((x, i) => x + (shift[i] ?? 0)));
  };

  const line = useLiveLine<ThrowingStage>(
    {
      name: "throwing",
      start: { kind: "throwing" },
      stops: false,
      picture: (element, cell, drawn) =>
        new ThrowingStage(element, cell, () => closeCell.current, drawn),
      began: (ready) => {
        choices.value = ready.choices;
        if (ready.choices) line.picture.current?.begin(ready.choices);
        isPaused.value = false;
        isStale = true;
      },
      came: ({ throwing }) => {
        if (throwing && isStale) {
          isStale = false;
          thing.value = throwing.thing;
          target.value = throwing.target;
          height.value = throwing.height;
          box.value = throwing.box;
        }
        steer();
      },
      looked: ({ throwing }, before) => {
        if (!throwing?.note || throwing.note === before?.throwing?.note) return;
        tell(throwing.note, "bad");
        isStale = true;
      },
      refused: () => (isStale = true),
      listen: (element, stage) =>
        listenForGrabs(element, {
          take: (event) => {
            if (!stage.grab(event)) return false;
            element.dataset.grabbed = "box";
            return true;
          },
          move: (event) => {
            const now = performance.now() / 1000;
            if (!stage.drag || now - lastSent < PACE) return;
            lastSent = now;
            const place = stage.place(event);
            if (place) setBox(toZUp(place));
          },
          letGo: () => {
            stage.letGo();
            delete element.dataset.grabbed;
          },
        }),
    },
    "throwing",
  );

  const choose = (name: string) => {
    // A list that keeps the keys would change with every letter.
    if (document.activeElement instanceof HTMLSelectElement) document.activeElement.blur();
    const chosen = choices.value?.things.find((other) => other.name === name);
    if (!chosen) return;
    thing.value = name;
    if (chosen.half_turns.length > 0) {
      target.value = "half_turns";
      aim({ prop: name });
    } else {
      if (target.value === "half_turns") target.value = "height";
      aim({ prop: name, target: target.value === "box" ? "box" : "height" });
    }
  };
  const next = () => {
    const names = choices.value?.things.map(({ name }) => name) ?? [];
    const name = names[(names.indexOf(thing.value) + 1) % names.length];
    if (name) choose(name);
  };
  const setTarget = (value: Target) => {
    if (value === "half_turns" || target.value === "half_turns") return;
    target.value = value;
    aim({ target: value });
  };
  const togglePause = () => {
    isPaused.value = !isPaused.value;
    line.say({ kind: isPaused.value ? "pause" : "resume" });
  };
  const record = () =>
    line.say({ kind: line.facts.value?.throwing?.recorded == null ? "record" : "save" });
  useShortcuts("Throwing", [
    { keys: [" "], label: "Pause or go on", does: togglePause },
    {
      keys: ["b"],
      label: "Height or box",
      does: () => setTarget(target.value === "box" ? "height" : "box"),
    },
    ...steering.shortcuts,
    { keys: ["n"], label: "Next thing", does: next },
    { keys: ["r"], label: "Start again", does: line.reset },
    { keys: ["c"], label: "Record a clip, or stop", does: record },
  ]);
  return {
    ...line,
    closeCell,
    choices,
    isPaused,
    thing,
    target,
    height,
    box,
    aim,
    setHeight,
    setBox,
    setTarget,
    choose,
    togglePause,
    record,
  };
}
