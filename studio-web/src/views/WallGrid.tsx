// The grid of views, and what is written on each.
import { effect, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { remembered } from "../data/memory";
import { cellTitle, clipTitle, runOf } from "../data/names";
import { isPlaying } from "../data/playback";
import { goTo, linkTo, markReady } from "../data/route";
import { clipModel, clipTimeline } from "../data/source";
import { activeJobs, hasServer, toggleFavourite } from "../data/store";
import {
  COLUMNS,
  filter,
  pageClips,
  picked,
  selected,
  sortBy,
  togglePicked,
  viewCount,
} from "../data/wall";
import type { ClipSummary, JobInfo } from "../messages";
import { CertificateMark } from "../parts/Certificate";
import { IconButton } from "../parts/controls";
import { withUnit } from "../parts/format";
import { quality } from "../scene/quality";
import { PLAIN, Player, type SlotState } from "../scene/player";

export const areContactsShown = remembered("wallContacts", false);

export function WallGrid() {
  const container = useRef<HTMLDivElement>(null);
  const cells = useRef(new Map<string, HTMLElement>());
  const player = useRef<Player | null>(null);
  const states = useSignal<ReadonlyMap<string, SlotState>>(new Map());

  useEffect(() => {
    const made = new Player(container.current!, () =>
      markReady(hasServer.value ? "wall" : "report"),
    );
    player.current = made;
    startPlaying();
    const stop = effect(() => {
      states.value = made.states.value;
    });
    return () => {
      stop();
      made.dispose();
      player.current = null;
    };
  }, []);
  useSignalEffect(() => {
    const isOn = areContactsShown.value;
    player.current?.setOverlays({ ...PLAIN, contacts: isOn, forces: isOn });
  });
  const list = pageClips.value;
  const shape = `${viewCount.value}:${list.map((clip) => clip.id).join()}`;
  useEffect(() => {
    const slots = list.flatMap((clip) => {
      const element = cells.current.get(clip.id);
      if (!element || clip.trouble) return [];
      return {
        key: clip.id,
        element,
        group: clip.scene,
        model: () => clipModel(clip.id),
        timeline: () => clipTimeline(clip.id),
      };
    });
    player.current?.show(slots);
  }, [shape]);

  const open = useOpening(cells.current);
  const columns = Math.min(COLUMNS[viewCount.value] ?? 3, 4);
  const rows = Math.ceil(viewCount.value / columns);
  return (
    <div
      ref={container}
      class="views"
      data-testid="views"
      style={{
        gridTemplateColumns: `repeat(${columns}, 1fr)`,
        gridTemplateRows: `repeat(${rows}, 1fr)`,
      }}
      {...open}
    >
      {list.map((clip) => (
        <Cell
          key={clip.id}
          clip={clip}
          state={states.value.get(clip.id)}
          place={(element) => {
            if (element) cells.current.set(clip.id, element);
            else cells.current.delete(clip.id);
          }}
        />
      ))}
      <Expected room={viewCount.value - list.length} />
    </div>
  );
}

let hasStarted = false;

/** Once, and only where pictures are cheap and nobody has asked for calm. */
function startPlaying(): void {
  const wantsCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!hasStarted && !wantsCalm && quality() === "full") isPlaying.value = true;
  hasStarted = true;
}

/** A click selects and a double click opens, but a drag turns the camera. */
function useOpening(cells: Map<string, HTMLElement>) {
  const down = useRef({ x: 0, y: 0 });
  const under = (event: MouseEvent): string | null => {
    for (const [id, cell] of cells) {
      const box = cell.getBoundingClientRect();
      const isIn = event.clientX >= box.left && event.clientX <= box.right;
      if (isIn && event.clientY >= box.top && event.clientY <= box.bottom) return id;
    }
    return null;
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      down.current = { x: event.clientX, y: event.clientY };
    },
    onClick: (event: MouseEvent) => {
      const moved = Math.hypot(event.clientX - down.current.x, event.clientY - down.current.y);
      if (moved < 4) selected.value = under(event);
    },
    onDblClick: (event: MouseEvent) => {
      const id = under(event);
      if (id) goTo(linkTo("stage", id));
    },
  };
}

interface CellProps {
  clip: ClipSummary;
  state: SlotState | undefined;
  place: (element: HTMLElement | null) => void;
}

function Cell({ clip, state, place }: CellProps) {
  const isPicked = picked.value.includes(clip.id);
  const trouble = clip.trouble ?? (typeof state === "object" ? state.trouble : null);
  const chosen = clip.figures?.find((figure) => figure.name === sortBy.value);
  const keep = (event: Event) => event.stopPropagation();
  return (
    <article
      ref={place}
      class={`cell ${selected.value === clip.id ? "cell-selected" : ""} ${isPicked ? "cell-picked" : ""}`}
      data-testid="cell"
      data-clip={clip.id}
      data-state={trouble ? "trouble" : state === "ready" ? "ready" : "loading"}
      aria-label={clipTitle(clip)}
    >
      {state === "loading" && <span class="spinner" role="status" aria-label="Loading" />}
      {trouble && <p class="cell-trouble">{trouble}</p>}
      <header class="cell-head" onPointerDown={keep} onDblClick={keep}>
        <a
          class="cell-title"
          href={linkTo("stage", clip.id)}
          title={clip.file}
          data-testid="open-stage"
        >
          {cellTitle(clip)}
        </a>
        {runOf(clip) !== null && (
          <span class="cell-run" title={clip.file} data-testid="run-number">
            run {runOf(clip)}
          </span>
        )}
        <CertificateMark clip={clip} />
        <span class="grow" />
        <div class="cell-actions">
          {hasServer.value && (
            <IconButton
              icon="compare"
              label="Pick for comparing"
              testid="pick"
              isOn={isPicked}
              onClick={() => togglePicked(clip.id)}
            />
          )}
          {hasServer.value && (
            <IconButton
              icon="star"
              label={clip.is_favourite ? "No longer a favourite" : "Favourite"}
              testid="favourite"
              isOn={clip.is_favourite}
              filled={clip.is_favourite}
              onClick={() => void toggleFavourite(clip)}
            />
          )}
        </div>
      </header>
      <footer class="cell-foot">
        {clip.strategies && (
          <span class="tags" title="Fingers that hold their place, slide, and go elsewhere">
            <span class="tag tag-hold">{clip.strategies.hold} hold</span>
            <span class="tag tag-slide">{clip.strategies.slide} slide</span>
            <span class="tag tag-move">{clip.strategies.relocate} move</span>
          </span>
        )}
        <span class="grow" />
        {chosen && <span class="cell-figure">{withUnit(chosen.value, chosen.unit)}</span>}
        {clip.cluster !== null && <span class="cell-cluster">family {clip.cluster + 1}</span>}
      </footer>
    </article>
  );
}

/** Places for motions that a running job has still to find. */
function Expected({ room }: { room: number }) {
  const job = activeJobs.value.find((j) => !filter.value.job || j.id === filter.value.job);
  if (!job) return null;
  const missing = Math.min(room, Math.max((job.wanted ?? job.found + 1) - job.found, 0));
  return (
    <>
      {Array.from({ length: missing }, (_, i) => (
        <ExpectedCell key={i} job={job} index={i} />
      ))}
    </>
  );
}

function ExpectedCell({ job, index }: { job: JobInfo; index: number }) {
  const number = job.found + index + 1;
  return (
    <article class="cell cell-expected" aria-label={`Motion ${number} is being looked for`}>
      <span class="expected-ring" aria-hidden="true" />
      <p>
        Motion {number}
        {job.wanted ? ` of ${job.wanted}` : ""}
      </p>
    </article>
  );
}
