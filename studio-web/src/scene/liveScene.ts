// A scene that is simulated elsewhere: its frames are put on the nodes of its .glb.
import { effect } from "@preact/signals";
import { Vector3 } from "three";

import { isDark } from "../data/theme";
import type { LiveFrame } from "../messages";
import { ContactMarks } from "./contacts";
import type { ClipModel } from "./model";
import { painter } from "./painter";
import { type Hit, pickBody } from "./picking";
import { Pull, PullMark } from "./pushing";
import { frameOf } from "./rig";

/** Bodies are lifted and pushed about, so the camera stands farther off. */
const ROOM = 1.7;

/** Puts the hands and bodies of a frame on a model's nodes. */
export function pose(model: ClipModel, frame: LiveFrame): void {
  for (const hand of frame.hands) {
    const root = model.node(`${hand.name}:root`);
    root?.position.fromArray(hand.position);
    root?.quaternion.fromArray(hand.xyzw);
    const joints = model.jointNames.get(hand.name) ?? [];
    joints.forEach((joint, i) => {
      const turn = hand.joints[i];
      if (turn) model.node(`${hand.name}:${joint}`)?.quaternion.fromArray(turn);
    });
    const between = model.betweenNames.get(hand.name) ?? [];
    between.forEach((name, i) => {
      const turn = hand.between[i];
      if (turn) model.node(name)?.quaternion.fromArray(turn);
    });
  }
  for (const body of frame.bodies) {
    const node = model.bodies.get(body.name);
    node?.position.fromArray(body.position);
    node?.quaternion.fromArray(body.xyzw);
  }
  model.root.updateMatrixWorld(true);
}

export class LiveStage {
  pull: Pull | null = null;
  private model: ClipModel | null = null;
  private readonly marks = new ContactMarks();
  private readonly mark = new PullMark();
  private readonly stopTheme: () => void;

  constructor(
    private readonly container: HTMLElement,
    private readonly cell: HTMLElement,
    drawn: () => void,
  ) {
    const p = painter();
    p.attach(container);
    p.rig.keepAbove();
    this.stopTheme = effect(() => p.setTheme(isDark.value));
    this.marks.setShown({ dots: true, forces: true, cones: false });
    p.onDrawn = () => void (this.model && drawn());
  }

  show(model: ClipModel): void {
    this.model = model;
    const box = this.cell.getBoundingClientRect();
    const frame = frameOf(
      model.corePoints,
      model.points,
      box.width / Math.max(box.height, 1),
      model.bestSide,
    );
    frame.distance *= ROOM;
    frame.middle.y += 0.06;
    const extras = [this.marks.group, this.mark.group];
    painter().setViews([{ element: this.cell, model, frame, extras }]);
  }

  apply(frame: LiveFrame): void {
    const { model } = this;
    if (!model) return;
    pose(model, frame);
    this.marks.show(
      frame.contacts.map(({ point, force, mode }) => ({
        point: new Vector3().fromArray(point),
        force: new Vector3().fromArray(force),
        normal: null,
        mode,
        margin: null,
        friction: 0,
      })),
    );
    this.pull?.update();
    this.mark.show(this.pull);
    painter().invalidate();
  }

  grab(event: PointerEvent): boolean {
    if (!this.model) return false;
    const hit: Hit | null = pickBody(event, this.cell, painter().camera, this.model);
    if (hit) this.pull = new Pull(hit.body, hit.node, hit);
    return hit !== null;
  }

  move(event: PointerEvent): void {
    this.pull?.moveTo(event, this.cell);
    this.mark.show(this.pull);
    painter().invalidate();
  }

  letGo(): void {
    this.pull = null;
    this.mark.show(null);
    painter().invalidate();
  }

  dispose(): void {
    this.stopTheme();
    painter().detach(this.container);
    this.marks.dispose();
    this.mark.dispose();
    this.model?.dispose();
  }
}
