// A report: the wall, the stage and a table of figures, without a server.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { loadReport } from "../data/report";
import { clipTitle } from "../data/names";
import { linkTo, markReady, route } from "../data/route";
import { clips, trouble } from "../data/store";
import { shownClips } from "../data/wall";
import { CertificateMark } from "../parts/Certificate";
import { Notice, Segmented } from "../parts/controls";
import { number, seconds, words } from "../parts/format";
import { HelpDialog } from "../parts/HelpDialog";
import { Toasts } from "../parts/Toasts";
import { TopBar } from "../parts/TopBar";
import { Stage } from "./Stage";
import { Wall } from "./Wall";

const data = loadReport();
const shape = signal<"wall" | "table">("wall");

export function Report() {
  const { view, arguments: given } = route.value;
  if (!data) {
    return (
      <main class="center">
        <Notice icon="alert" title="Nothing to show">
          <p>{trouble.value}</p>
        </Notice>
      </main>
    );
  }
  const made = new Date(data.created * 1000).toLocaleDateString([], { dateStyle: "long" });
  return (
    <>
      <TopBar title={data.title}>
        {view !== "stage" && (
          <Segmented
            label="Show as"
            values={["wall", "table"] as const}
            value={shape.value}
            name={words}
            testid="report"
            onChange={(value) => (shape.value = value)}
          />
        )}
        <span class="muted top-folder">
          {made}, handwright {data.version}
        </span>
      </TopBar>
      {view === "stage" && given[0] ? (
        <Stage key={given[0]} id={given[0]} />
      ) : shape.value === "wall" ? (
        <Wall />
      ) : (
        <Table />
      )}
      <HelpDialog />
      <Toasts />
    </>
  );
}

function Table() {
  useEffect(() => markReady("report"), []);
  const figures = new Map<string, string>();
  for (const clip of clips.value)
    for (const { name, label, unit } of clip.figures ?? [])
      figures.set(name, unit ? `${label}, ${unit}` : label);
  return (
    <main class="table-view">
      <table class="figures-table" data-testid="report-figures">
        <thead>
          <tr>
            <th scope="col">Clip</th>
            <th scope="col">Certificate</th>
            <th scope="col">Length</th>
            {[...figures.values()].map((label) => (
              <th scope="col" key={label}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shownClips.value.map((clip) => (
            <tr key={clip.id}>
              <th scope="row">
                <a href={linkTo("stage", clip.id)}>{clipTitle(clip)}</a>
              </th>
              <td>
                <CertificateMark clip={clip} isLong />
              </td>
              <td>{seconds(clip.duration)}</td>
              {[...figures.keys()].map((name) => (
                <td key={name}>
                  {number(clip.figures?.find((figure) => figure.name === name)?.value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </main>
  );
}
