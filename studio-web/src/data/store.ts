// What the server has, kept up to date by its events.
import { computed, signal } from "@preact/signals";

import type {
  About,
  ClipSummary,
  JobInfo,
  MethodInfo,
  SceneInfo,
  ShapeInfo,
  StudioEvent,
} from "../messages";
import { server } from "./server";
import { forgetClip } from "./source";
import { tell } from "./toasts";

export const about = signal<About | null>(null);
export const clips = signal<ClipSummary[]>([]);
export const jobs = signal<JobInfo[]>([]);
export const scenes = signal<SceneInfo[]>([]);
export const methods = signal<MethodInfo[]>([]);
export const shapes = signal<ShapeInfo[]>([]);
export const isLoaded = signal(false);
/** Why nothing could be loaded. */
export const trouble = signal<string | null>(null);
export const isConnected = signal(true);
/** Whether there is a server at all; a report has none. */
export const hasServer = signal(true);

export const activeJobs = computed(() =>
  jobs.value.filter((job) => job.state === "queued" || job.state === "running"),
);

export function clipById(id: string): ClipSummary | undefined {
  return clips.value.find((clip) => clip.id === id);
}

export async function load(): Promise<void> {
  trouble.value = null;
  try {
    const [a, c, j] = await Promise.all([server.about(), server.clips(), server.jobs()]);
    about.value = a;
    clips.value = c;
    jobs.value = j;
    isLoaded.value = true;
    listen();
    [scenes.value, methods.value, shapes.value] = await Promise.all([
      server.scenes(),
      server.methods(),
      server.shapes(),
    ]);
  } catch (error) {
    trouble.value = error instanceof Error ? error.message : String(error);
  }
}

let events: EventSource | null = null;

function listen(): void {
  events?.close();
  events = new EventSource("api/events");
  const take = (message: MessageEvent<string>) => apply(JSON.parse(message.data) as StudioEvent);
  for (const kind of ["job", "clip", "clip_gone"]) events.addEventListener(kind, take);
  events.onmessage = take;
  events.onopen = () => {
    isConnected.value = true;
    void attempt(catchUp);
  };
  events.onerror = () => (isConnected.value = false);
}

/** Before the connection was there, events may have been missed. */
async function catchUp(): Promise<void> {
  [clips.value, jobs.value] = await Promise.all([server.clips(), server.jobs()]);
}

function apply(event: StudioEvent): void {
  if (event.clip) putClip(event.clip);
  if (event.job) putJob(event.job);
  const gone = event.clip_gone?.id;
  if (gone) clips.value = clips.value.filter((clip) => clip.id !== gone);
}

export function putClip(clip: ClipSummary): void {
  const known = clips.value.find((old) => old.id === clip.id);
  if (known && known.created !== clip.created) forgetClip(clip.id);
  clips.value = known
    ? clips.value.map((old) => (old.id === clip.id ? clip : old))
    : [clip, ...clips.value];
}

export function putJob(job: JobInfo): void {
  const old = jobs.value.find((j) => j.id === job.id);
  jobs.value = old ? jobs.value.map((j) => (j.id === job.id ? job : j)) : [job, ...jobs.value];
  if (old && old.state !== job.state) {
    if (job.state === "failed") tell(job.message || "The job failed.", "bad");
    if (job.state === "done") tell(`${job.found} motions for ${job.scene} are on the wall.`);
  }
}

/** Does something with the server; what goes wrong is told. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error), "bad");
  }
}

export function toggleFavourite(clip: ClipSummary): Promise<void> {
  return attempt(async () => putClip(await server.favour(clip.id, !clip.is_favourite)));
}
