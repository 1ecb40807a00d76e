// Beside the stage: the verdict, the checks, the figures, and what can be done with the clip.
import { useSignal } from "@preact/signals";

import { clipTitle } from "../data/names";
import { goTo, linkTo } from "../data/route";
import { server } from "../data/server";
import { attempt, hasServer, toggleFavourite } from "../data/store";
import { shownClips } from "../data/wall";
import type { CheckInfo, ClipSummary, Timeline } from "../messages";
import { CertificateMark } from "../parts/Certificate";
import { IconButton } from "../parts/controls";
import { ExportDialog } from "../parts/ExportDialog";
import { number, seconds, sentence, withUnit, words } from "../parts/format";
import { Icon } from "../parts/Icon";

interface StageSideProps {
  clip: ClipSummary;
  timeline: Timeline | null;
}

export function StageSide({ clip, timeline }: StageSideProps) {
  return (
    <aside class="panel side" aria-label="About the clip">
      <Head clip={clip} />
      <p
        class={`verdict ${clip.is_certified === false ? "verdict-is-bad" : ""}`}
        data-testid="verdict"
      >
        {sentence(timeline?.verdict ?? clip.verdict ?? "Being judged…")}
      </p>
      {timeline && <Checks checks={timeline.checks} />}
      {clip.figures && clip.figures.length > 0 && (
        <section class="group">
          <h2>Figures</h2>
          <dl class="figures">
            {clip.figures.map((figure) => (
              <div key={figure.name}>
                <dt>{figure.label}</dt>
                <dd>{withUnit(figure.value, figure.unit)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      <section class="group">
        <h2>Made by</h2>
        <dl class="figures">
          {(
            [
              ["Scene", words(clip.scene)],
              ["Method", words(clip.method)],
              ["Seed", String(clip.seed)],
              ["Length", `${seconds(clip.duration)}, ${clip.num_frames} frames`],
              ["File", clip.file],
            ] as const
          ).map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </section>
      {timeline?.notes.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
    </aside>
  );
}

function Head({ clip }: { clip: ClipSummary }) {
  const isExporting = useSignal(false);
  const list = shownClips.value;
  const at = list.findIndex((other) => other.id === clip.id);
  const neighbour = (by: number) => list[at + by];
  const open = (by: number) => {
    const next = neighbour(by);
    if (next) goTo(linkTo("stage", next.id));
  };
  return (
    <header class="side-head">
      <div class="row">
        <a class="back-link" href={linkTo("wall")} data-testid="to-wall">
          <Icon name="left" /> Wall
        </a>
        <span class="grow" />
        <IconButton
          icon="left"
          label="Clip before"
          keys="K"
          testid="clip-before"
          disabled={!neighbour(-1)}
          onClick={() => open(-1)}
        />
        <IconButton
          icon="right"
          label="Next clip"
          keys="J"
          testid="clip-next"
          disabled={!neighbour(1)}
          onClick={() => open(1)}
        />
      </div>
      <div class="row">
        <h1>{clipTitle(clip)}</h1>
        <CertificateMark clip={clip} isLong />
      </div>
      {hasServer.value && (
        <div class="row">
          <button
            type="button"
            class="button button-primary"
            data-testid="export"
            onClick={() => (isExporting.value = true)}
          >
            <Icon name="download" /> Export
          </button>
          <a
            class="button"
            data-testid="vary"
            href={`${linkTo("make")}?scene=${encodeURIComponent(clip.scene)}&clip=${encodeURIComponent(clip.id)}`}
          >
            <Icon name="make" /> Change
          </a>
          <span class="grow" />
          <IconButton
            icon="star"
            label="Favourite"
            keys="F"
            testid="stage-favourite"
            isOn={clip.is_favourite}
            filled={clip.is_favourite}
            onClick={() => void toggleFavourite(clip)}
          />
          <IconButton
            icon="trash"
            label="Delete"
            testid="delete"
            onClick={() => void remove(clip)}
          />
        </div>
      )}
      {isExporting.value && (
        <ExportDialog clip={clip} onClose={() => (isExporting.value = false)} />
      )}
    </header>
  );
}

async function remove(clip: ClipSummary): Promise<void> {
  if (!confirm(`Delete ${clip.file}? It is put away in .handwright/deleted of the folder.`)) return;
  await attempt(async () => {
    await server.remove(clip.id);
    goTo(linkTo("wall"));
  });
}

function Checks({ checks }: { checks: readonly CheckInfo[] }) {
  return (
    <section class="group">
      <h2>Checks</h2>
      <table class="checks" data-testid="checks">
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col">Worst</th>
            <th scope="col">Allowed</th>
          </tr>
        </thead>
        <tbody>
          {checks.map((check) => (
            <tr key={check.name} class={check.is_passed ? "" : "check-failed"} title={check.detail}>
              <th scope="row">
                <Icon name={check.is_passed ? "check" : "cross"} />
                {check.label}
                <small>
                  {check.unit}
                  {check.num_failing > 0 && ` · ${check.num_failing} frames fail`}
                </small>
              </th>
              <td>{number(check.worst, 2)}</td>
              <td>{number(check.allowed, 2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
