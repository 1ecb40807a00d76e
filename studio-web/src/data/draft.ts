// A motion that is being asked for, before it is sent.
import { computed, signal } from "@preact/signals";

import type {
  BodyEdit,
  ClipSummary,
  GoalRequest,
  JobRequest,
  MethodInfo,
  PinRequest,
  SceneInfo,
  Upload,
} from "../messages";
import { jobs, methods, scenes } from "./store";

export type Value = number | boolean | string | null;

export interface Draft {
  scene: string;
  /** Empty for the one that suits the scene. */
  method: string;
  settings: Record<string, Value>;
  seed: number;
  bodies: Record<string, BodyEdit>;
  /** m, in the frame of each hand's root. */
  offsets: Record<string, [number, number, number]>;
  pins: PinRequest[];
  goals: Record<string, GoalRequest>;
}

const EMPTY: Draft = {
  scene: "",
  method: "",
  settings: {},
  seed: 0,
  bodies: {},
  offsets: {},
  pins: [],
  goals: {},
};

export const draft = signal<Draft>(EMPTY);
/** The clip on whose motion pins are placed; null for the scene before anything is found. */
export const basis = signal<string | null>(null);
/** The digit that the next click on a body pins; null if clicks do nothing. */
export const pinning = signal<string | null>(null);
/** The body whose goal is being dragged. */
export const aiming = signal<string | null>(null);
export const uploads = signal<Upload[]>([]);

export const draftScene = computed<SceneInfo | undefined>(() =>
  scenes.value.find((scene) => scene.name === draft.value.scene),
);
export const draftMethod = computed<MethodInfo | undefined>(() => {
  const name = draft.value.method || draftScene.value?.method;
  return methods.value.find((method) => method.name === name);
});

/** Sampling follows tracks, so goals mean nothing to it. */
export const takesGoals = computed(() =>
  ["trajopt", "stepwise"].includes(draftMethod.value?.name ?? ""),
);

/** Where bodies should be: as the scene says, unless it was set otherwise. */
export const shownGoals = computed<GoalRequest[]>(() => {
  if (!takesGoals.value) return [];
  const { goals } = draft.value;
  const usual = (draftScene.value?.goals ?? []).filter((goal) => !goals[goal.body]);
  return [...usual, ...Object.values(goals)];
});

export function change(part: Partial<Draft>): void {
  draft.value = { ...draft.value, ...part };
}

export function chooseScene(name: string): void {
  if (name === draft.value.scene) return;
  draft.value = { ...EMPTY, scene: name, seed: draft.value.seed };
  basis.value = null;
  pinning.value = null;
  aiming.value = null;
}

/** Starts from what made a clip, as far as it is known. */
export function startFrom(clip: ClipSummary): void {
  const request = jobs.value.find((job) => job.id === clip.job)?.request;
  chooseScene(clip.scene);
  basis.value = clip.id;
  if (!request) return;
  draft.value = {
    scene: request.scene,
    method: request.method ?? "",
    settings: { ...request.settings },
    seed: request.seed ?? 0,
    bodies: Object.fromEntries((request.bodies ?? []).map((edit) => [edit.body, edit])),
    offsets: Object.fromEntries((request.hands ?? []).map(({ hand, offset }) => [hand, offset])),
    pins: [...(request.pins ?? [])],
    goals: Object.fromEntries((request.goals ?? []).map((goal) => [goal.body, goal])),
  };
}

export function editBody(body: string, part: Partial<BodyEdit>): void {
  const edit = { ...draft.value.bodies[body], ...part, body };
  change({ bodies: { ...draft.value.bodies, [body]: edit } });
}

export function setSetting(name: string, value: Value, usual: Value): void {
  const settings = { ...draft.value.settings };
  if (value === usual) delete settings[name];
  else settings[name] = value;
  change({ settings });
}

export function requestOf(d: Draft): JobRequest {
  return {
    scene: d.scene,
    method: d.method || null,
    settings: d.settings,
    seed: d.seed,
    bodies: Object.values(d.bodies),
    hands: Object.entries(d.offsets)
      .filter(([, offset]) => offset.some((x) => x !== 0))
      .map(([hand, offset]) => ({ hand, offset })),
    pins: d.pins,
    goals: Object.values(d.goals),
  };
}
