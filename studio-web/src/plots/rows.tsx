// Rows of a time area: strips of digits, the verdict, and curves.
import { memo } from "preact/compat";

import type { Curve, Strip } from "../messages";
import { number, words } from "../parts/format";
import { MODES } from "../scene/modes";

interface Run {
  start: number;
  end: number;
  value: number;
}

function runs(values: readonly number[]): Run[] {
  const found: Run[] = [];
  values.forEach((value, i) => {
    const last = found[found.length - 1];
    if (last && last.value === value) last.end = i + 1;
    else found.push({ start: i, end: i + 1, value });
  });
  return found;
}

interface StripRowProps {
  strip: Strip;
  /** N, of the tallest force of all strips. */
  most: number;
  label: string;
}

/** A band in the colour of its mode while the digit touches, with the force standing on it. */
export const StripRow = memo(({ strip, most, label }: StripRowProps) => {
  const count = strip.mode.length;
  return (
    <div class="time-row strip-row" data-testid="strip">
      <span class="time-label">{label}</span>
      <svg
        viewBox={`0 0 ${count} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={describe(strip, label)}
      >
        {runs(strip.mode).map(({ start, end, value }) =>
          value < 0 ? null : (
            <g key={start} class={`mode mode-${MODES[value]?.name}`}>
              <rect class="mode-band" x={start} y={0} width={end - start} height={100} rx={0} />
              <rect class="mode-base" x={start} y={86} width={end - start} height={14} />
            </g>
          ),
        )}
        {runs(strip.mode).map(({ start, end, value }) =>
          value < 0 ? null : (
            <path
              key={start}
              class={`mode-force mode-${MODES[value]?.name}`}
              d={area(strip.force, start, end, most)}
            />
          ),
        )}
      </svg>
    </div>
  );
});

function area(force: readonly number[], start: number, end: number, most: number): string {
  const y = (i: number) => (86 - (80 * (force[i] ?? 0)) / Math.max(most, 1e-9)).toFixed(1);
  let path = `M${start} 86L${start} ${y(start)}`;
  for (let i = start; i < end; i++) path += `L${i + 0.5} ${y(i)}`;
  return `${path}L${end} ${y(end - 1)}L${end} 86Z`;
}

function describe(strip: Strip, label: string): string {
  const touching = strip.mode.filter((mode) => mode >= 0).length;
  const share = Math.round((100 * touching) / Math.max(strip.mode.length, 1));
  return `${label} touches ${words(strip.body)} for ${share} % of the time`;
}

/** Frame by frame: passes or fails. */
export const VerdictRow = memo(({ failed }: { failed: readonly string[][] }) => (
  <div class="time-row verdict-row" data-testid="verdict-row">
    <span class="time-label">Verdict</span>
    <svg
      viewBox={`0 0 ${failed.length} 10`}
      preserveAspectRatio="none"
      role="img"
      aria-label="Verdict of each frame"
    >
      {runs(failed.map((reasons) => Math.min(reasons.length, 1))).map(({ start, end, value }) => (
        <rect
          key={start}
          class={value ? "verdict-bad" : "verdict-good"}
          x={start}
          y={value ? 0 : 3}
          width={end - start}
          height={value ? 10 : 4}
        />
      ))}
    </svg>
  </div>
));

/** A figure over time, with its limit if there is one. */
export const CurveRow = memo(({ curve }: { curve: Curve }) => {
  const values = curve.values.map((value) => value ?? 0);
  const high = Math.max(...values, curve.allowed ?? 0, 1e-12);
  const low = Math.min(...values, 0);
  const y = (value: number) => (92 - (84 * (value - low)) / (high - low)).toFixed(2);
  const count = Math.max(values.length, 1);
  let isDown = false;
  let line = "";
  curve.values.forEach((value, i) => {
    if (value !== null) line += `${isDown ? "L" : "M"}${i + 0.5} ${y(value)}`;
    isDown = value !== null;
  });
  return (
    <div class="time-row curve-row" data-testid="curve" data-curve={curve.name}>
      <span class="time-label">
        {curve.label}
        <small>
          {curve.unit}
          {curve.allowed !== null && ` · limit ${number(curve.allowed)}`}
        </small>
      </span>
      <svg
        viewBox={`0 0 ${count} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={curve.label}
      >
        {curve.allowed !== null && (
          <>
            <rect class="beyond" x={0} y={0} width={count} height={y(curve.allowed)} />
            <line class="limit" x1={0} x2={count} y1={y(curve.allowed)} y2={y(curve.allowed)} />
          </>
        )}
        <path class="curve-line" d={line} />
      </svg>
      <span class="curve-most">max {number(Math.max(...values), 2)}</span>
    </div>
  );
});
