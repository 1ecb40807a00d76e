// Where clips come from: the server, or the report that holds them.
import type { Comparison, Timeline } from "../messages";
import { forget, modelOf } from "../scene/models";
import type { ClipModel } from "../scene/model";
import { server } from "./server";

export interface Source {
  model(clip: string): Promise<ArrayBuffer>;
  timeline(clip: string): Promise<Timeline>;
  /** Null where two clips cannot be compared. */
  comparison: ((first: string, second: string) => Promise<Comparison>) | null;
}

let current: Source = server;
const timelines = new Map<string, Promise<Timeline>>();

export function setSource(source: Source): void {
  current = source;
}

export function clipModel(clip: string): Promise<ClipModel> {
  return modelOf(`clip ${clip}`, () => current.model(clip));
}

/** After a clip was written anew, what was loaded of it is old. */
export function forgetClip(clip: string): void {
  forget(`clip ${clip}`);
  timelines.delete(clip);
}

/** A clip's timeline; asked for once. */
export function clipTimeline(clip: string): Promise<Timeline> {
  let found = timelines.get(clip);
  if (!found) {
    found = current.timeline(clip);
    timelines.set(clip, found);
    found.catch(() => timelines.delete(clip));
  }
  return found;
}

export function comparisonOf(first: string, second: string): Promise<Comparison> | null {
  return current.comparison?.(first, second) ?? null;
}
