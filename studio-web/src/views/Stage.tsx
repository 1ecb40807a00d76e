// One clip: what happens, and why it holds.
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { useShortcuts } from "../data/keys";
import { remembered } from "../data/memory";
import { evenFrames, setFrames } from "../data/playback";
import { goTo, linkTo, markReady } from "../data/route";
import { clipModel, clipTimeline } from "../data/source";
import { clipById, isLoaded, toggleFavourite } from "../data/store";
import { shownClips } from "../data/wall";
import type { ClipSummary, Timeline } from "../messages";
import { Notice } from "../parts/controls";
import { Transport } from "../parts/Transport";
import { TimelinePanel } from "../plots/TimelinePanel";
import { painter } from "../scene/painter";
import { type Overlays, PLAIN, Player } from "../scene/player";
import { StageSide } from "./StageSide";
import { StageTools } from "./StageTools";

export const stageOverlays: Signal<Overlays> = remembered<Overlays>("stage", {
  ...PLAIN,
  contacts: true,
  forces: true,
});

export function Stage({ id }: { id: string }) {
  const clip = clipById(id);
  if (!clip) {
    return (
      <main class="center">
        {isLoaded.value ? (
          <Notice icon="alert" title="This clip is not in the folder" testid="stage-missing">
            <a class="button" href={linkTo("wall")}>
              To the wall
            </a>
          </Notice>
        ) : (
          <Notice icon="clock" title="Loading…" />
        )}
      </main>
    );
  }
  return <ClipStage clip={clip} />;
}

function ClipStage({ clip }: { clip: ClipSummary }) {
  const timeline = useSignal<Timeline | null>(null);
  const trouble = useSignal<string | null>(clip.trouble);
  useEffect(() => {
    setFrames(evenFrames(clip.duration, clip.num_frames));
    clipTimeline(clip.id)
      .then((found) => {
        timeline.value = found;
        setFrames(found.times);
      })
      .catch((error: Error) => (trouble.value = error.message));
  }, [clip.id]);
  const toggle = (key: "contacts" | "forces" | "cones" | "trails" | "follow") => () => {
    stageOverlays.value = { ...stageOverlays.value, [key]: !stageOverlays.value[key] };
  };
  useShortcuts("Stage", [
    { keys: ["c"], label: "Contact points", does: toggle("contacts") },
    { keys: ["v"], label: "Forces", does: toggle("forces") },
    { keys: ["n"], label: "Friction cones", does: toggle("cones") },
    { keys: ["t"], label: "Trails", does: toggle("trails") },
    { keys: ["g"], label: "Follow the body", does: toggle("follow") },
    { keys: ["0"], label: "Camera as at first", does: () => painter().rig.reset() },
    {
      keys: ["f"],
      label: "Favourite",
      does: () => void toggleFavourite(clipById(clip.id) ?? clip),
    },
    { keys: ["j"], label: "Next clip", does: () => openNeighbour(clip.id, 1) },
    { keys: ["k"], label: "Clip before", does: () => openNeighbour(clip.id, -1) },
    { keys: ["Escape"], label: "To the wall", does: () => goTo(linkTo("wall")) },
  ]);
  return (
    <main class="stage" data-testid="stage">
      <section class="stage-main">
        <StageView clip={clip} />
        <Transport />
        {timeline.value ? (
          <TimelinePanel timeline={timeline.value} />
        ) : (
          <div class="timeline timeline-waiting">
            {trouble.value ? (
              <p class="cell-trouble">{trouble.value}</p>
            ) : (
              <p class="muted">
                <span class="spinner" /> Judging every frame…
              </p>
            )}
          </div>
        )}
      </section>
      <StageSide clip={clip} timeline={timeline.value} />
    </main>
  );
}

function openNeighbour(id: string, by: number): void {
  const list = shownClips.value;
  const next = list[list.findIndex((clip) => clip.id === id) + by];
  if (next) goTo(linkTo("stage", next.id));
}

function StageView({ clip }: { clip: ClipSummary }) {
  const container = useRef<HTMLDivElement>(null);
  const cell = useRef<HTMLDivElement>(null);
  const player = useRef<Player | null>(null);
  const trouble = useSignal<string | null>(null);
  useEffect(() => {
    const made = new Player(container.current!, () => markReady("stage"));
    player.current = made;
    made.setOverlays(stageOverlays.value);
    made.show([
      {
        key: clip.id,
        element: cell.current!,
        group: clip.id,
        model: () => clipModel(clip.id),
        timeline: () => clipTimeline(clip.id),
      },
    ]);
    const stop = made.states.subscribe((states) => {
      const state = states.get(clip.id);
      trouble.value = typeof state === "object" ? state.trouble : null;
    });
    return () => {
      stop();
      made.dispose();
      player.current = null;
    };
  }, [clip.id]);
  useSignalEffect(() => player.current?.setOverlays(stageOverlays.value));
  return (
    <div ref={container} class="views stage-view" data-testid="stage-view">
      <div ref={cell} class="cell">
        {trouble.value && <p class="cell-trouble">{trouble.value}</p>}
      </div>
      <StageTools overlays={stageOverlays} />
    </div>
  );
}
