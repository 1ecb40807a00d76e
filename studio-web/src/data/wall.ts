// Which clips are on the wall, and in what order.
import { computed, signal } from "@preact/signals";

import type { ClipSummary } from "../messages";
import { remembered } from "./memory";
import { clips } from "./store";

export const COUNTS = [1, 2, 4, 6, 9, 12] as const;
export const COLUMNS: Record<number, number> = { 1: 1, 2: 2, 4: 2, 6: 3, 9: 3, 12: 4 };

export interface Filter {
  scene: string;
  job: string;
  certificate: "" | "certified" | "refused" | "unjudged";
  strategy: "" | "hold" | "slide" | "relocate";
  cluster: string;
  favourites: boolean;
  /** Name of a figure and the largest value shown. */
  figure: string;
  most: number | null;
}

export const NO_FILTER: Filter = {
  scene: "",
  job: "",
  certificate: "",
  strategy: "",
  cluster: "",
  favourites: false,
  figure: "",
  most: null,
};

export const viewCount = remembered<number>("views", 6);
export const filter = signal<Filter>(NO_FILTER);
/** `created`, `scene`, or the name of a figure. */
export const sortBy = remembered<string>("sort", "created");
export const isAscending = remembered("ascending", false);
export const page = signal(0);
/** The clip that keys act on. */
export const selected = signal<string | null>(null);
/** At most two, to be compared. */
export const picked = signal<string[]>([]);

export function figureOf(clip: ClipSummary, name: string): number | null {
  return clip.figures?.find((figure) => figure.name === name)?.value ?? null;
}

function passes(clip: ClipSummary, f: Filter): boolean {
  const verdict =
    clip.is_certified === null ? "unjudged" : clip.is_certified ? "certified" : "refused";
  if (f.scene && clip.scene !== f.scene) return false;
  if (f.job && clip.job !== f.job) return false;
  if (f.certificate && verdict !== f.certificate) return false;
  if (f.strategy && !(clip.strategies && clip.strategies[f.strategy] > 0)) return false;
  if (f.cluster && String(clip.cluster) !== f.cluster) return false;
  if (f.favourites && !clip.is_favourite) return false;
  if (f.figure && f.most !== null) {
    const value = figureOf(clip, f.figure);
    if (value === null || value > f.most) return false;
  }
  return true;
}

function sortKey(clip: ClipSummary, by: string): number | string | null {
  if (by === "created") return clip.created;
  if (by === "scene") return clip.scene;
  return figureOf(clip, by);
}

export const shownClips = computed(() => {
  const list = clips.value.filter((clip) => passes(clip, filter.value));
  const sign = isAscending.value ? 1 : -1;
  return list.sort((a, b) => {
    const [x, y] = [sortKey(a, sortBy.value), sortKey(b, sortBy.value)];
    // What has no value comes last, whichever way the others go.
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x < y ? -sign : x > y ? sign : a.file < b.file ? -1 : 1;
  });
});

export const pageCount = computed(() =>
  Math.max(1, Math.ceil(shownClips.value.length / viewCount.value)),
);
export const currentPage = computed(() => Math.min(page.value, pageCount.value - 1));
export const pageClips = computed(() => {
  const first = currentPage.value * viewCount.value;
  return shownClips.value.slice(first, first + viewCount.value);
});

/** Figures that any clip has, for choosing. */
export const figureNames = computed(() => {
  const names = new Map<string, { label: string; unit: string }>();
  for (const clip of clips.value)
    for (const { name, label, unit } of clip.figures ?? []) names.set(name, { label, unit });
  return names;
});

export function setFilter(change: Partial<Filter>): void {
  filter.value = { ...filter.value, ...change };
  page.value = 0;
}

export function turnPage(by: number): void {
  page.value = Math.min(Math.max(currentPage.value + by, 0), pageCount.value - 1);
}

export function togglePicked(id: string): void {
  picked.value = picked.value.includes(id)
    ? picked.value.filter((other) => other !== id)
    : [...picked.value, id].slice(-2);
}
