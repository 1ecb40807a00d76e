// One clock for all views of the page.
import { computed, signal } from "@preact/signals";

import { frameAt } from "../scene/frameContacts";
import { remembered } from "./memory";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2] as const;

/** s, of the longest clip shown. */
export const duration = signal(0);
/** Times of the frames that are stepped through, s. */
export const frameTimes = signal<readonly number[]>([0]);
export const time = signal(0);
export const isPlaying = signal(false);
export const isLooping = remembered("loop", true);
export const speed = remembered<number>("speed", 1);
export const frame = computed(() => frameAt(frameTimes.value, time.value));

/** Takes the frames of what is shown now; the time stays if it exists there. */
export function setFrames(times: readonly number[]): void {
  frameTimes.value = times.length > 0 ? times : [0];
  duration.value = times[times.length - 1] ?? 0;
  if (time.value > duration.value) time.value = 0;
}

export function evenFrames(length: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => (length * i) / Math.max(count - 1, 1));
}

/** Moves on by what has passed, s; false when the clock stands. */
export function advance(seconds: number): boolean {
  if (!isPlaying.value || duration.value <= 0) return false;
  const next = time.value + seconds * speed.value;
  if (next <= duration.value) time.value = next;
  else if (isLooping.value) time.value = next % duration.value;
  else {
    time.value = duration.value;
    isPlaying.value = false;
  }
  return true;
}

export function togglePlay(): void {
  if (!isPlaying.value && time.value >= duration.value) time.value = 0;
  isPlaying.value = !isPlaying.value;
}

export function seek(seconds: number): void {
  time.value = Math.min(Math.max(seconds, 0), duration.value);
}

export function step(frames: number): void {
  isPlaying.value = false;
  const last = frameTimes.value.length - 1;
  seek(frameTimes.value[Math.min(Math.max(frame.value + frames, 0), last)] ?? 0);
}

export function changeSpeed(by: 1 | -1): void {
  const at = SPEEDS.findIndex((s) => s >= speed.value);
  speed.value = SPEEDS[Math.min(Math.max(at + by, 0), SPEEDS.length - 1)] ?? 1;
}
