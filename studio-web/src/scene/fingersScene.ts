// Hands with learned fingers and the prop that they handle, as the server shows them, and a pale
// copy of the prop where it should be.
import { effect } from "@preact/signals";
import { Group, Vector3 } from "three";

import { isDark } from "../data/theme";
import type { LiveFrame } from "../messages";
import { Drag } from "./dragging";
import { ghostLook, haunt } from "./ghosts";
import { pose } from "./liveScene";
import type { ClipModel } from "./model";
import { numbersOf, Pace } from "./paced";
import { painter } from "./painter";
import { pickBody } from "./picking";

/** What the camera looks at, m, and from how far. */
const MIDDLE = new Vector3(0, 0.88, -0.05);
const DISTANCE = 1.2;
/** By which the camera goes round, so that the inside of a hand is seen, rad. */
const TURNS: Record<string, number> = { right: -0.85, left: -0.2, both: -0.52 };
/** How far from the shown prop its wish must be to be shown, m and rad. */
const [FAR, TURNED] = [0.012, 0.12];

export class FingersStage {
  drag: Drag | null = null;
  private model: ClipModel | null = null;
  private frame: LiveFrame | null = null;
  private readonly ghost = new Group();
  private readonly extra = new Group().add(this.ghost);
  private readonly look = ghostLook(0.3);
  private haunted = "";
  private readonly pace = new Pace();
  private readonly stopTheme: () => void;

  constructor(
    private readonly container: HTMLElement,
    private readonly cell: HTMLElement,
    private readonly hands: string,
    drawn: () => void,
  ) {
    const p = painter();
    p.attach(container);
    p.rig.keepAbove();
    this.stopTheme = effect(() => p.setTheme(isDark.value));
    p.onTick = () => {
      this.settle();
      return false;
    };
    p.onDrawn = () => {
      if (this.model) drawn();
      this.pace.wasDrawn();
    };
  }

  show(model: ClipModel): void {
    this.model = model;
    this.haunted = "";
    this.pace.forget();
    const frame = { middle: MIDDLE.clone(), distance: DISTANCE, turn: TURNS[this.hands] ?? 0 };
    painter().setViews([{ element: this.cell, model, frame, extras: [this.extra] }]);
  }

  has(prop: string): boolean {
    return this.model?.bodies.has(prop) ?? false;
  }

  /** Takes over the surface of another prop. */
  add(prop: string, from: ClipModel): void {
    const node = from.bodies.get(prop);
    if (!node || !this.model) return;
    node.visible = false;
    this.model.root.add(node);
    this.model.bodies.set(prop, node);
  }

  apply(frame: LiveFrame): void {
    this.frame = frame;
    if (this.model) this.pace.ask(numbersOf(frame, frame.fingers ? [frame.fingers.wish] : []));
  }

  private settle(): void {
    const { model, frame } = this;
    const wish = frame?.fingers?.wish;
    if (!model || !frame || !wish) return;
    const shown = frame.bodies[0];
    for (const [name, node] of model.bodies) node.visible = name === shown?.name;
    pose(model, frame);
    const body = model.bodies.get(shown?.name ?? "");
    if (this.haunted !== wish.name && haunt(this.ghost, model, wish.name, undefined, this.look))
      this.haunted = wish.name;
    this.ghost.position.fromArray(wish.position);
    this.ghost.quaternion.fromArray(wish.xyzw);
    this.ghost.visible =
      this.haunted === wish.name &&
      (wish.name !== shown?.name ||
        !body ||
        body.position.distanceTo(this.ghost.position) > FAR ||
        body.quaternion.angleTo(this.ghost.quaternion) > TURNED);
  }

  /** Whether the pointer is on the prop; it is dragged in the plane that faces the camera then. */
  grab(event: PointerEvent): boolean {
    const wish = this.frame?.fingers?.wish;
    if (!this.model || !wish) return false;
    const shown = this.frame?.bodies[0]?.name;
    const hit = pickBody(event, this.cell, painter().camera, this.model);
    if (!hit || hit.body !== shown) return false;
    this.drag = new Drag(hit.point, new Vector3().fromArray(wish.position));
    return true;
  }

  /** Where the prop should be, in the world. */
  place(event: PointerEvent): Vector3 | null {
    return this.drag?.place(event, this.cell) ?? null;
  }

  letGo(): void {
    this.drag = null;
  }

  dispose(): void {
    this.stopTheme();
    painter().detach(this.container);
    this.look.dispose();
    this.model?.dispose();
  }
}
