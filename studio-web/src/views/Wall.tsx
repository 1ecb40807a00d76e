// Many solutions side by side, in step.
import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { useShortcuts } from "../data/keys";
import { evenFrames, setFrames } from "../data/playback";
import { goTo, linkTo, markReady, route } from "../data/route";
import {
  activeJobs,
  clipById,
  clips,
  hasServer,
  isLoaded,
  jobs,
  toggleFavourite,
} from "../data/store";
import {
  COUNTS,
  currentPage,
  filter,
  page,
  pageClips,
  pageCount,
  picked,
  selected,
  setFilter,
  shownClips,
  togglePicked,
  turnPage,
  viewCount,
} from "../data/wall";
import { IconButton, Notice, Segmented } from "../parts/controls";
import { JobStrip } from "../parts/JobStrip";
import { Transport } from "../parts/Transport";
import { painter } from "../scene/painter";
import { CompareTray } from "./CompareTray";
import { FilterPanel } from "./FilterPanel";
import { areContactsShown, WallGrid } from "./WallGrid";
import { NO_FILTER } from "../data/wall";

export function Wall() {
  useEffect(() => {
    const job = route.value.query.get("job");
    if (job) setFilter({ ...NO_FILTER, job });
  }, [route.value]);
  useSignalEffect(() => {
    const longest = [...pageClips.value].sort((a, b) => b.duration - a.duration)[0];
    setFrames(longest ? evenFrames(longest.duration, longest.num_frames) : [0]);
  });
  useEffect(() => {
    if (isLoaded.value && pageClips.value.length === 0)
      markReady(hasServer.value ? "wall" : "report");
  }, [isLoaded.value, pageClips.value.length]);
  useWallShortcuts();
  const waiting = activeJobs.value.filter(
    (job) => !filter.value.job || job.id === filter.value.job,
  );
  return (
    <main class="wall" data-testid="wall">
      <FilterPanel />
      <section class="wall-main" aria-label="Solutions">
        <WallBar />
        {waiting.map((job) => (
          <JobStrip key={job.id} job={job} />
        ))}
        {pageClips.value.length === 0 && waiting.length === 0 ? <NothingHere /> : <WallGrid />}
        <CompareTray />
        <Transport />
      </section>
    </main>
  );
}

function WallBar() {
  const count = shownClips.value.length;
  const first = currentPage.value * viewCount.value;
  const last = Math.min(first + viewCount.value, count);
  return (
    <div class="bar">
      <h1 class="bar-title">
        <span data-testid="clip-count">{count}</span> {count === 1 ? "motion" : "motions"}
      </h1>
      <span class="grow" />
      {pageCount.value > 1 && (
        <div class="pager" role="group" aria-label="Pages">
          <IconButton
            icon="left"
            label="Page before"
            keys="page up"
            testid="page-before"
            disabled={currentPage.value === 0}
            onClick={() => turnPage(-1)}
          />
          <span>
            {first + 1}–{last} of {count}
          </span>
          <IconButton
            icon="right"
            label="Next page"
            keys="page down"
            testid="page-next"
            disabled={last >= count}
            onClick={() => turnPage(1)}
          />
        </div>
      )}
      <IconButton
        icon="target"
        label="Contacts and forces"
        keys="C"
        testid="wall-contacts"
        isOn={areContactsShown.value}
        onClick={() => (areContactsShown.value = !areContactsShown.value)}
      />
      <IconButton
        icon="reset"
        label="Camera as at first"
        keys="0"
        testid="reset-camera"
        onClick={() => painter().rig.reset()}
      />
      <Segmented
        label="Views"
        values={COUNTS}
        value={viewCount.value}
        testid="views"
        onChange={(n) => {
          viewCount.value = n;
          page.value = 0;
        }}
      />
    </div>
  );
}

function NothingHere() {
  const failed = jobs.value.find((job) => job.id === filter.value.job && job.state === "failed");
  if (failed) {
    return (
      <Notice icon="make" title="No motion was found" testid="wall-failed">
        <p>{failed.message}</p>
        <a class="button button-primary" href={linkTo("make")}>
          Change it
        </a>
        <button type="button" class="button" onClick={() => setFilter(NO_FILTER)}>
          Show all
        </button>
      </Notice>
    );
  }
  if (!isLoaded.value) {
    return (
      <Notice icon="clock" title="Looking at the folder…" testid="wall-loading">
        <p>Clips appear as they are read.</p>
      </Notice>
    );
  }
  if (clips.value.length > 0) {
    return (
      <Notice icon="filter" title="No motion passes the filter" testid="wall-filtered">
        <p>{clips.value.length} motions are hidden.</p>
        <button type="button" class="button" onClick={() => setFilter(NO_FILTER)}>
          Show all
        </button>
      </Notice>
    );
  }
  return (
    <Notice icon="make" title="An empty wall" testid="wall-empty">
      <p>Choose a scene, and let the hand find its own ways to do it.</p>
      <a class="button button-primary" href={linkTo("make")} data-testid="first-motion">
        Make the first motions
      </a>
    </Notice>
  );
}

function useWallShortcuts() {
  const move = (by: number) => {
    const list = pageClips.value;
    const at = list.findIndex((clip) => clip.id === selected.value);
    selected.value = list[Math.min(Math.max(at + by, 0), list.length - 1)]?.id ?? null;
  };
  const onSelected = (act: (id: string) => void) => () => selected.value && act(selected.value);
  useShortcuts("Wall", [
    ...COUNTS.map((n, i) => ({
      keys: [String(i + 1)],
      label: `${n} ${n === 1 ? "view" : "views"}`,
      does: () => void ((viewCount.value = n), (page.value = 0)),
    })),
    { keys: ["j"], label: "Select the next", does: () => move(1) },
    { keys: ["k"], label: "Select the one before", does: () => move(-1) },
    {
      keys: ["Enter"],
      label: "Open the selected one",
      does: onSelected((id) => goTo(linkTo("stage", id))),
    },
    {
      keys: ["f"],
      label: "Favourite",
      does: onSelected((id) => void (hasServer.value && favour(id))),
    },
    { keys: ["x"], label: "Pick for comparing", does: onSelected(togglePicked) },
    { keys: ["Escape"], label: "Pick none", does: () => (picked.value = []) },
    {
      keys: ["c"],
      label: "Contacts and forces",
      does: () => (areContactsShown.value = !areContactsShown.value),
    },
    { keys: ["0"], label: "Camera as at first", does: () => painter().rig.reset() },
    { keys: ["PageDown"], label: "Next page", does: () => turnPage(1) },
    { keys: ["PageUp"], label: "Page before", does: () => turnPage(-1) },
  ]);
}

function favour(id: string): void {
  const clip = clipById(id);
  if (clip) void toggleFavourite(clip);
}
