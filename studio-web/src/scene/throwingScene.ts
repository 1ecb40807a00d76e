// An arm that throws, as the server shows it: all of it, and the hand from near by.
import { effect } from "@preact/signals";
import { Vector3 } from "three";

import { isDark } from "../data/theme";
import type { LiveFrame, ThrowingChoices } from "../messages";
import { toYUp } from "./axes";
import { Drag } from "./dragging";
import { pose } from "./liveScene";
import type { ClipModel } from "./model";
import { numbersOf, Pace } from "./paced";
import { painter } from "./painter";
import { pickBody } from "./picking";
import type { Frame } from "./rig";
import { TargetMarks } from "./targetMarks";

/** Of the body that stands for the box that is thrown at. */
export const BOX = "box";
/** The joint at which the hand begins, and the way on to the middle of its palm, m. */
const [WRIST, TO_PALM] = ["right:wrist_deviation", new Vector3(0.085, 0, 0)];
/** By which cameras go round, so that they see the thrower from the front and the right, rad. */
const TURN = 1.45;
/** m: how far cameras are; room above and below what is thrown. */
const [NEAR, LEAST, ABOVE, BELOW] = [0.92, 2.6, 0.16, 0.26];
/** Half the height of a picture over its distance. */
const HALF = 0.2217;
/** How much more is seen above a hand than below it, as things come from there, m. */
const COMING = 0.04;
/** s in which cameras follow. */
const [SLOW, QUICK] = [0.5, 0.16];

export class ThrowingStage {
  drag: Drag | null = null;
  private model: ClipModel | null = null;
  private frame: LiveFrame | null = null;
  private palm = new Vector3();
  private readonly whole: Frame = { middle: new Vector3(), distance: LEAST, turn: TURN };
  private readonly close: Frame = { middle: new Vector3(), distance: NEAR, turn: TURN };
  private readonly marks: TargetMarks;
  private readonly pace = new Pace();
  private readonly stopTheme: () => void;
  private isFirst = true;
  private lastTick = 0;

  constructor(
    private readonly container: HTMLElement,
    private readonly cell: HTMLElement,
    private readonly closeCell: () => HTMLElement | null,
    drawn: () => void,
  ) {
    const p = painter();
    this.marks = new TargetMarks(cell);
    p.attach(container);
    p.rig.keepAbove();
    this.stopTheme = effect(() => p.setTheme(isDark.value));
    p.onTick = () => {
      this.settle();
      return false;
    };
    p.onDrawn = () => {
      if (this.model) drawn();
      this.marks.place(p.camera);
      this.pace.wasDrawn();
    };
  }

  show(model: ClipModel): void {
    this.model = model;
    this.isFirst = true;
    this.pace.forget();
    for (const node of model.bodies.values()) node.visible = false;
    const close = this.closeCell();
    const { marks } = this;
    marks.use(model, BOX);
    // The whole is drawn last, so that its camera is the one that the pointer goes by.
    painter().setViews([
      ...(close ? [{ element: close, model, frame: this.close, extras: [] }] : []),
      { element: this.cell, model, frame: this.whole, extras: [marks.group] },
    ]);
  }

  /** Where things are measured from. */
  begin(choices: ThrowingChoices): void {
    toYUp(choices.palm, this.palm);
  }

  apply(frame: LiveFrame): void {
    this.frame = frame;
    if (!this.model) return;
    const { throwing } = frame;
    this.pace.ask([...numbersOf(frame), ...(throwing?.box ?? []), throwing?.height ?? 0]);
  }

  private settle(): void {
    const { model, frame } = this;
    const throwing = frame?.throwing;
    if (!model || !frame || !throwing) return;
    const shown = new Set(frame.bodies.map(({ name }) => name));
    for (const [name, node] of model.bodies) node.visible = shown.has(name);
    pose(model, frame);
    this.marks.show(throwing, this.palm, model.bodies.get(BOX));
    const now = performance.now() / 1000;
    this.follow(this.isFirst ? Infinity : Math.min(now - this.lastTick, 0.25));
    this.lastTick = now;
    this.isFirst = false;
  }

  /** Brings both cameras nearer to where they should be. */
  private follow(passed: number): void {
    const { model, frame, palm } = this;
    const throwing = frame?.throwing;
    if (!model || !throwing) return;
    const isAtBox = throwing.target === "box";
    const top = throwing.target === "height" ? throwing.height : 0.9;
    const tall = top + ABOVE + BELOW;
    const middle = palm.clone();
    middle.y += (top + ABOVE - BELOW) / 2;
    middle.z += isAtBox ? -0.2 : 0.12;
    const slow = 1 - Math.exp(-passed / SLOW);
    this.whole.middle.lerp(middle, slow);
    const distance = Math.max(LEAST, tall / (2 * HALF) + 0.25);
    this.whole.distance += slow * (distance - this.whole.distance);
    const wrist = model.node(WRIST);
    if (!wrist) return;
    const hand = wrist.localToWorld(TO_PALM.clone());
    hand.y += COMING;
    this.close.middle.lerp(hand, 1 - Math.exp(-passed / QUICK));
  }

  /** Whether the pointer is on the box. */
  grab(event: PointerEvent): boolean {
    const wish = this.frame?.throwing?.box;
    if (!this.model || !wish) return false;
    const hit = pickBody(event, this.cell, painter().camera, this.model);
    if (hit?.body !== BOX) return false;
    this.drag = new Drag(hit.point, toYUp(wish));
    return true;
  }

  /** Where the box should be, in the world. */
  place(event: PointerEvent): Vector3 | null {
    return this.drag?.place(event, this.cell) ?? null;
  }

  letGo(): void {
    this.drag = null;
  }

  dispose(): void {
    this.stopTheme();
    painter().detach(this.container);
    this.marks.dispose();
    this.model?.dispose();
  }
}
