// Clips in rectangles of the page, all at the time of the one clock.
import { effect, signal } from "@preact/signals";
import { type Object3D, Vector3 } from "three";

import { advance, isPlaying, time } from "../data/playback";
import { isDark } from "../data/theme";
import type { Timeline } from "../messages";
import { ContactMarks } from "./contacts";
import { FrameContacts, frameAt } from "./frameContacts";
import type { ClipModel } from "./model";
import { painter, type View } from "./painter";
import { type Frame, frameOf } from "./rig";
import { Trails } from "./trails";

/** What the browser's clock calls the moments at which the first view, and all, are seen. */
const FIRST_PICTURE = "handwright: first picture";
const ALL_PICTURES = "handwright: all pictures";

/** What is drawn besides the surfaces. */
export interface Overlays {
  contacts: boolean;
  forces: boolean;
  cones: boolean;
  trails: boolean;
  follow: boolean;
  /** From 0 to 1. */
  handOpacity: number;
}

export const PLAIN: Overlays = {
  contacts: false,
  forces: false,
  cones: false,
  trails: false,
  follow: false,
  handOpacity: 1,
};

export interface Slot {
  key: string;
  element: HTMLElement;
  /** Slots of one group are framed as one. */
  group: string;
  /** Places that must be seen besides those of the motion. */
  more?: readonly Vector3[];
  model: () => Promise<ClipModel>;
  timeline: () => Promise<Timeline>;
}

interface Shown {
  slot: Slot;
  model: ClipModel;
  marks: ContactMarks;
  contacts: FrameContacts | null;
  times: readonly number[];
  trails: Trails | null;
  start: Vector3;
}

export type SlotState = "loading" | "ready" | { trouble: string };

export class Player {
  readonly states = signal<ReadonlyMap<string, SlotState>>(new Map());
  /** Called before each picture for each clip shown. */
  beforeDraw: (model: ClipModel) => void = () => undefined;
  private shown: Shown[] = [];
  private extras: Object3D[] = [];
  private overlays = PLAIN;
  private wanted: Slot[] = [];
  private hasBegun = false;
  private isReady = false;
  private isWelcoming = false;
  private isGone = false;
  private readonly stop: () => void;

  constructor(
    private readonly container: HTMLElement,
    private readonly ready: () => void,
  ) {
    const p = painter();
    p.attach(container);
    p.onTick = (seconds) => this.tick(seconds);
    p.onDrawn = () => this.drawn();
    const stopTheme = effect(() => p.setTheme(isDark.value));
    const stopTime = effect(() => {
      void time.value;
      void isPlaying.value;
      p.invalidate();
    });
    this.stop = () => {
      stopTheme();
      stopTime();
    };
  }

  /** Shows these clips and no others; those that are loaded already stay. */
  show(slots: Slot[]): void {
    this.wanted = slots;
    this.shown = this.shown.filter((old) => {
      const slot = slots.find((s) => s.key === old.slot.key);
      if (slot) old.slot = slot;
      else free(old);
      return slot !== undefined;
    });
    const states = new Map<string, SlotState>();
    for (const slot of slots) {
      const isShown = this.shown.some((s) => s.slot.key === slot.key);
      states.set(slot.key, isShown ? "ready" : "loading");
      if (!isShown) void this.load(slot);
    }
    this.states.value = states;
    this.arrange();
  }

  setOverlays(overlays: Overlays): void {
    this.overlays = overlays;
    for (const shown of this.shown) this.dress(shown);
    this.arrange();
  }

  /** Draws these in every view as well. */
  setExtras(extras: Object3D[]): void {
    this.extras = extras;
    this.arrange();
  }

  modelOf(key: string): ClipModel | undefined {
    return this.shown.find((s) => s.slot.key === key)?.model;
  }

  dispose(): void {
    this.isGone = true;
    this.stop();
    this.shown.forEach(free);
    this.shown = [];
    this.wanted = [];
    painter().detach(this.container);
  }

  private async load(slot: Slot): Promise<void> {
    try {
      const model = await slot.model();
      const current = this.wanted.find((s) => s.key === slot.key);
      if (!current || this.shown.some((s) => s.slot.key === slot.key)) return;
      const shown: Shown = {
        slot: current,
        model,
        marks: new ContactMarks(),
        contacts: null,
        times: [],
        trails: null,
        start: followed(model, 0),
      };
      this.shown.push(shown);
      this.dress(shown);
      void this.welcome();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.setState(slot.key, { trouble: text });
    }
  }

  /** Shows those that came: the first at once, others so that half of the time is left for them. */
  private async welcome(): Promise<void> {
    const isLast = this.shown.length === this.wanted.length;
    if (this.shown.length > 1 && !isLast) {
      if (this.isWelcoming) return;
      this.isWelcoming = true;
      const begin = performance.now();
      await painter().finished();
      await pause(performance.now() - begin);
      this.isWelcoming = false;
      const isNews = this.shown.some(({ slot }) => this.states.value.get(slot.key) !== "ready");
      if (this.isGone || !isNews) return;
    }
    this.arrange();
  }

  private setState(key: string, state: SlotState): void {
    if (!this.wanted.some((slot) => slot.key === key)) return;
    this.states.value = new Map(this.states.value).set(key, state);
    painter().invalidate();
  }

  private dress(shown: Shown): void {
    const { contacts, forces, cones, trails, handOpacity } = this.overlays;
    shown.marks.setShown({ dots: contacts, forces, cones });
    shown.model.setHandOpacity(handOpacity);
    if ((contacts || forces || cones) && !shown.contacts) void this.loadContacts(shown);
    if (trails && !shown.trails) shown.trails = new Trails(shown.model);
    if (shown.trails) shown.trails.group.children.forEach((c) => (c.visible = trails));
  }

  private async loadContacts(shown: Shown): Promise<void> {
    try {
      const timeline = await shown.slot.timeline();
      shown.contacts = new FrameContacts(timeline);
      shown.times = timeline.times;
    } catch {
      // The view that shows the timeline tells why there is none.
    }
    painter().invalidate();
  }

  private arrange(): void {
    const states = new Map(this.states.value);
    const news = this.shown.filter(({ slot }) => states.get(slot.key) !== "ready");
    for (const { slot } of news) states.set(slot.key, "ready");
    if (news.length > 0) this.states.value = states;
    const frames = new Map<string, Frame>();
    const views = this.shown.map((shown): View => {
      const { model, marks, trails, slot } = shown;
      const view: View = {
        element: slot.element,
        model,
        frame: this.frameFor(slot, frames),
        extras: [marks.group, ...(trails ? [trails.group] : []), ...this.extras],
      };
      if (this.overlays.follow) view.offset = () => followed(model, undefined).sub(shown.start);
      return view;
    });
    painter().setViews(views);
  }

  /** Cells of one group and shape have one frame. */
  private frameFor({ element, group }: Slot, known: Map<string, Frame>): Frame {
    const box = element.getBoundingClientRect();
    const aspect = box.height > 0 ? box.width / box.height : 1;
    const key = `${aspect.toFixed(2)} ${group}`;
    const together = this.shown.filter((s) => s.slot.group === group);
    const more = together.flatMap((s) => s.slot.more ?? []);
    const frame =
      known.get(key) ??
      frameOf(
        [...together.flatMap((s) => s.model.corePoints), ...more],
        [...together.flatMap((s) => s.model.points), ...more],
        aspect,
        together[0]?.model.bestSide ?? null,
      );
    known.set(key, frame);
    return frame;
  }

  private tick(seconds: number): boolean {
    const goesOn = advance(seconds);
    const now = time.value;
    for (const { model, marks, contacts, times, trails } of this.shown) {
      model.setTime(now);
      if (contacts) marks.show(contacts.at(frameAt(times, Math.min(now, model.duration))));
      trails?.setTime(now);
      this.beforeDraw(model);
    }
    return goesOn;
  }

  /** Tells of the first view and of all once they are seen, not when they were asked for. */
  private drawn(): void {
    const states = [...this.states.value.values()];
    if (!this.hasBegun && states.includes("ready")) {
      this.hasBegun = true;
      void painter().finished().then(() => performance.mark(FIRST_PICTURE));
    }
    if (this.isReady || states.includes("loading")) return;
    this.isReady = true;
    void painter()
      .finished()
      .then(() => {
        performance.mark(ALL_PICTURES);
        if (!this.isGone) this.ready();
      });
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** What a camera follows: the first body. */
function followed(model: ClipModel, at: number | undefined): Vector3 {
  if (at !== undefined) model.setTime(at);
  const [body] = model.bodies.values();
  return body ? new Vector3().setFromMatrixPosition(body.matrixWorld) : new Vector3();
}

function free(shown: Shown): void {
  shown.model.setHandOpacity(1);
  shown.marks.dispose();
  shown.trails?.dispose();
}
