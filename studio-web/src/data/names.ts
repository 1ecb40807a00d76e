// What clips are called. Runs of one scene number their motions alike, so where there are several
// runs each has a number of its own, the oldest the first.
import { computed } from "@preact/signals";

import type { ClipSummary } from "../messages";
import { words } from "../parts/format";
import { clips } from "./store";

/** `milk_box_turn_04.npz`: what comes before the number is the run's. */
const NUMBERED = /_(\d+)\.[a-z]+$/;

const runs = computed(() => {
  const starts = new Map<string, Map<string, number>>();
  for (const clip of clips.value) {
    const ofScene = starts.get(clip.scene) ?? new Map<string, number>();
    const run = runKey(clip);
    ofScene.set(run, Math.min(ofScene.get(run) ?? Infinity, clip.created));
    starts.set(clip.scene, ofScene);
  }
  const numbers = new Map<string, number>();
  for (const ofScene of starts.values()) {
    if (ofScene.size < 2) continue;
    const inOrder = [...ofScene].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
    inOrder.forEach(([run], i) => numbers.set(run, i + 1));
  }
  return numbers;
});

function runKey(clip: ClipSummary): string {
  return `${clip.scene} ${clip.file.replace(NUMBERED, "")}`;
}

/** Number of the run that a clip is of; null where its scene has only one. */
export function runOf(clip: ClipSummary): number | null {
  return runs.value.get(runKey(clip)) ?? null;
}

/** The name on a cell, beside which the run is written. */
export function cellTitle(clip: ClipSummary): string {
  const number = NUMBERED.exec(clip.file)?.[1];
  return number ? `${words(clip.scene)} ${number}` : words(clip.scene || clip.file);
}

export function clipTitle(clip: ClipSummary): string {
  const run = runOf(clip);
  return run === null ? cellTitle(clip) : `${cellTitle(clip)}, run ${run}`;
}

/** Beside another of the same scene. */
export function shortTitle(clip: ClipSummary): string {
  const number = NUMBERED.exec(clip.file)?.[1];
  const run = runOf(clip);
  return [...(run === null ? [] : [`run ${run}`]), ...(number ? [number] : [])].join(" · ") || "–";
}
