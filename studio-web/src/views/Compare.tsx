// Two clips side by side, and how far apart they are over time.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { clipTitle, shortTitle } from "../data/names";
import { evenFrames, setFrames } from "../data/playback";
import { linkTo, markReady } from "../data/route";
import { clipModel, clipTimeline, comparisonOf } from "../data/source";
import { clipById, isLoaded } from "../data/store";
import type { ClipSummary, Comparison } from "../messages";
import { CertificateMark } from "../parts/Certificate";
import { Notice } from "../parts/controls";
import { number, seconds, withUnit } from "../parts/format";
import { Icon } from "../parts/Icon";
import { Transport } from "../parts/Transport";
import { CurveRow } from "../plots/rows";
import { TimeArea } from "../plots/TimeArea";
import { Player } from "../scene/player";
import { stageOverlays } from "./Stage";

export function Compare({ ids }: { ids: [string, string] }) {
  const [first, second] = ids.map(clipById);
  if (!first || !second) {
    return (
      <main class="center">
        <Notice
          icon={isLoaded.value ? "alert" : "clock"}
          title={isLoaded.value ? "One of the clips is gone" : "Loading…"}
        />
      </main>
    );
  }
  return <Pair clips={[first, second]} />;
}

function Pair({ clips }: { clips: [ClipSummary, ClipSummary] }) {
  const container = useRef<HTMLDivElement>(null);
  const cells = useRef<(HTMLElement | null)[]>([]);
  const found = useSignal<Comparison | null>(null);
  const trouble = useSignal<string | null>(null);
  const [first, second] = clips;
  useEffect(() => {
    const longer = first.duration > second.duration ? first : second;
    setFrames(evenFrames(longer.duration, longer.num_frames));
    const player = new Player(container.current!, () => markReady("compare"));
    player.setOverlays(stageOverlays.value);
    player.show(
      clips.map((clip, i) => ({
        key: clip.id,
        element: cells.current[i]!,
        group: "pair",
        model: () => clipModel(clip.id),
        timeline: () => clipTimeline(clip.id),
      })),
    );
    comparisonOf(first.id, second.id)
      ?.then((comparison) => (found.value = comparison))
      .catch((error: Error) => (trouble.value = error.message));
    return () => player.dispose();
  }, []);
  return (
    <main class="stage compare" data-testid="compare-view">
      <section class="stage-main">
        <div ref={container} class="views stage-view compare-views">
          {clips.map((clip, i) => (
            <article
              class="cell"
              key={clip.id}
              ref={(element) => void (cells.current[i] = element)}
            >
              <header class="cell-head">
                <a class="cell-title" href={linkTo("stage", clip.id)}>
                  {clipTitle(clip)}
                </a>
                <CertificateMark clip={clip} />
              </header>
            </article>
          ))}
        </div>
        <Transport />
        <Differences comparison={found.value} trouble={trouble.value} />
      </section>
      <FigurePairs clips={clips} />
    </main>
  );
}

function Differences({
  comparison,
  trouble,
}: {
  comparison: Comparison | null;
  trouble: string | null;
}) {
  if (!comparison) {
    return (
      <div class="timeline timeline-waiting">
        {trouble ? (
          <p class="cell-trouble">{trouble}</p>
        ) : (
          <p class="muted">
            <span class="spinner" /> Comparing…
          </p>
        )}
      </div>
    );
  }
  return (
    <section class="timeline" aria-label="Differences" data-testid="differences">
      <TimeArea
        times={comparison.times}
        testid="difference-area"
        tip={(frame) => (
          <>
            <p class="tip-head">
              Frame {frame + 1} · {seconds(comparison.times[frame] ?? 0)}
            </p>
            <ul>
              {comparison.curves.map((curve) => (
                <li key={curve.name}>
                  {curve.label}
                  <b>{withUnit(curve.values[frame], curve.unit)}</b>
                </li>
              ))}
            </ul>
          </>
        )}
      >
        {comparison.curves.map((curve) => (
          <CurveRow key={curve.name} curve={curve} />
        ))}
      </TimeArea>
    </section>
  );
}

function FigurePairs({ clips: [first, second] }: { clips: [ClipSummary, ClipSummary] }) {
  return (
    <aside class="panel side" aria-label="Figures of both">
      <div class="row">
        <a class="back-link" href={linkTo("wall")}>
          <Icon name="left" /> Wall
        </a>
      </div>
      <h1>Side by side</h1>
      <table class="checks pairs">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">{shortTitle(first)}</th>
            <th scope="col">{shortTitle(second)}</th>
          </tr>
        </thead>
        <tbody>
          {(first.figures ?? []).map((figure) => (
            <tr key={figure.name}>
              <th scope="row">
                {figure.label}
                <small>{figure.unit}</small>
              </th>
              <td>{number(figure.value)}</td>
              <td>{number(second.figures?.find((f) => f.name === figure.name)?.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </aside>
  );
}
