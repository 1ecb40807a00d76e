// A pale copy of a body that is dragged to where the body should be.
import { Group } from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";

import type { GoalRequest } from "../messages";
import { toZUp, toZUpWxyz } from "./axes";
import { ghostLook, haunt } from "./ghosts";
import type { ClipModel } from "./model";
import { painter } from "./painter";

export class GoalGizmo {
  readonly ghost = new Group();
  readonly controls: TransformControls;
  private readonly look = ghostLook(0.45);

  constructor(
    element: HTMLElement,
    moved: (position: [number, number, number], wxyz: [number, number, number, number]) => void,
  ) {
    const p = painter();
    this.controls = new TransformControls(p.camera, element);
    this.controls.setSize(0.8);
    this.controls.setColors("#dd5b45", "#2f9e6a", "#3b7dd8", "#f0b62b");
    this.controls.addEventListener("change", () => p.invalidate());
    this.controls.addEventListener("dragging-changed", (event) => p.rig.setEnabled(!event.value));
    this.controls.addEventListener("objectChange", () =>
      moved(toZUp(this.ghost.position), toZUpWxyz(this.ghost.quaternion)),
    );
  }

  /** Starts from a goal, else from where the body is now. */
  aim(model: ClipModel, body: string, goal: GoalRequest | undefined): void {
    if (haunt(this.ghost, model, body, goal, this.look)) this.controls.attach(this.ghost);
  }

  dispose(): void {
    this.controls.detach();
    this.controls.dispose();
    this.look.dispose();
    painter().rig.setEnabled(true);
  }
}
