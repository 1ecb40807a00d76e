// How surfaces move against each other, in words and in colours that people who see fewer colours
// can tell apart (Okabe and Ito's set).
import { Color } from "three";

export interface Mode {
  name: string;
  color: string;
  meaning: string;
}

export const MODES: readonly Mode[] = [
  { name: "static", color: "#1f83c4", meaning: "holds its place" },
  { name: "sliding", color: "#e69f00", meaning: "slips along the surface" },
  { name: "rolling", color: "#00a67c", meaning: "rolls on the surface" },
  { name: "colliding", color: "#d5460a", meaning: "hits the surface" },
];

export const MODE_COLORS = MODES.map((mode) => new Color(mode.color));

const SAFE = new Color("#1f83c4");
const NEAR = new Color("#e69f00");
const EDGE = new Color("#d5460a");

/** Blue for a straight push, orange on the way, red on the edge of the friction cone. */
export function marginColor(margin: number | null, into = new Color()): Color {
  const m = Math.min(Math.max(margin ?? 1, 0), 1);
  if (m > 0.35) return into.lerpColors(NEAR, SAFE, Math.min((m - 0.35) / 0.35, 1));
  return into.lerpColors(EDGE, NEAR, m / 0.35);
}
