// The contact table of a timeline, frame by frame, in the axes of the scene.
import type { Timeline } from "../messages";
import { toYUp } from "./axes";
import type { ShownContact } from "./contacts";

export class FrameContacts {
  private readonly start: number[] = [];

  constructor(private readonly timeline: Timeline) {
    const { frame } = timeline.contacts;
    let row = 0;
    for (let f = 0; f <= timeline.times.length; f++) {
      while (row < frame.length && (frame[row] ?? 0) < f) row++;
      this.start.push(row);
    }
  }

  at(frame: number): ShownContact[] {
    const table = this.timeline.contacts;
    const shown: ShownContact[] = [];
    for (let row = this.start[frame] ?? 0; row < (this.start[frame + 1] ?? 0); row++) {
      const force = table.force[row];
      shown.push({
        point: toYUp(table.point[row]!),
        normal: toYUp(table.normal[row]!),
        force: force ? toYUp(force) : null,
        mode: table.mode[row] ?? 0,
        margin: table.margin[row] ?? null,
        friction: table.friction[row] ?? 0,
      });
    }
    return shown;
  }
}

/** The frame shown at a time: the nearest. */
export function frameAt(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle;
    else high = middle;
  }
  return (times[high] ?? 0) - time < time - (times[low] ?? 0) ? Math.max(high, 0) : low;
}
