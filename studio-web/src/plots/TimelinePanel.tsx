// All that is known of a clip over time: the gait of the fingers, the verdict, and curves.
import { useMemo } from "preact/hooks";

import type { Strip, Timeline } from "../messages";
import { number, seconds, words } from "../parts/format";
import { MODES } from "../scene/modes";
import { CurveRow, StripRow, VerdictRow } from "./rows";
import { TimeArea } from "./TimeArea";

export function TimelinePanel({ timeline }: { timeline: Timeline }) {
  const { strips, curves, failed, times } = timeline;
  const most = useMemo(() => Math.max(...strips.flatMap((strip) => strip.force), 0), [timeline]);
  const name = useMemo(() => stripNames(strips), [timeline]);
  return (
    <section class="timeline" aria-label="Timeline" data-testid="timeline">
      <TimeArea
        times={times}
        testid="time-area"
        tip={(frame) => <FrameTip timeline={timeline} frame={frame} name={name} />}
      >
        <Ruler times={times} />
        <VerdictRow failed={failed} />
        {strips.map((strip) => (
          <StripRow key={name(strip)} strip={strip} most={most} label={name(strip)} />
        ))}
        {strips.length === 0 && <p class="time-empty">No hand touches a body in this clip.</p>}
        {curves.map((curve) => (
          <CurveRow key={curve.name} curve={curve} />
        ))}
      </TimeArea>
    </section>
  );
}

/** Hand and body are named only where there are several. */
export function stripNames(strips: readonly Strip[]): (strip: Strip) => string {
  const hands = new Set(strips.map((strip) => strip.hand));
  const bodies = new Set(strips.map((strip) => strip.body));
  return ({ hand, digit, body }) => {
    const whose = hands.size > 1 ? `${words(hand)} ${digit}` : words(digit);
    return bodies.size > 1 ? `${whose} · ${words(body).toLowerCase()}` : whose;
  };
}

interface FrameTipProps {
  timeline: Timeline;
  frame: number;
  name: (strip: Strip) => string;
}

function FrameTip({ timeline, frame, name }: FrameTipProps) {
  const reasons = timeline.failed[frame] ?? [];
  const touching = timeline.strips.filter((strip) => (strip.mode[frame] ?? -1) >= 0);
  return (
    <>
      <p class="tip-head">
        Frame {frame + 1} · {seconds(timeline.times[frame] ?? 0)}
      </p>
      <p class={reasons.length ? "tip-bad" : "tip-good"} data-testid="frame-reason">
        {reasons.length ? reasons.join("; ") : "All checks pass"}
      </p>
      <ul>
        {touching.map((strip) => (
          <li key={name(strip)}>
            <i class={`dot mode-${MODES[strip.mode[frame]!]?.name}`} />
            {name(strip)} {MODES[strip.mode[frame]!]?.name}
            <b>{number(strip.force[frame], 2)} N</b>
          </li>
        ))}
      </ul>
    </>
  );
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60];

function Ruler({ times }: { times: readonly number[] }) {
  const last = times[times.length - 1] || 1;
  const step = STEPS.find((s) => last / s <= 12) ?? last;
  const ticks = Array.from({ length: Math.floor(last / step + 1e-6) + 1 }, (_, i) => i * step);
  return (
    <div class="time-row ruler" aria-hidden="true">
      <span class="time-label" />
      <div class="ruler-ticks">
        {ticks.map((tick) => (
          <span key={tick} style={{ left: `${(100 * tick) / last}%` }}>
            {number(tick)} s
          </span>
        ))}
      </div>
    </div>
  );
}

export function ModeLegend() {
  return (
    <ul class="legend" aria-label="Contact modes">
      {MODES.map(({ name, meaning }) => (
        <li key={name} title={meaning}>
          <i class={`dot mode-${name}`} />
          {name}
        </li>
      ))}
    </ul>
  );
}
