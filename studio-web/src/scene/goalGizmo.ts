// A pale copy of a body that is dragged to where the body should be.
import { Group, Mesh, MeshStandardMaterial } from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";

import type { GoalRequest } from "../messages";
import { toYUp, toYUpQuaternion, toZUp, toZUpWxyz } from "./axes";
import type { ClipModel } from "./model";
import { painter } from "./painter";

export class GoalGizmo {
  readonly ghost = new Group();
  readonly controls: TransformControls;
  private readonly look = new MeshStandardMaterial({
    color: 0x4f8df7,
    transparent: true,
    opacity: 0.45,
    depthWrite: false,
  });

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

  /** Starts from the goal that was set, else from where the body is now. */
  aim(model: ClipModel, body: string, goal: GoalRequest | undefined): void {
    const node = model.bodies.get(body);
    if (!node) return;
    this.ghost.clear();
    node.traverse((child) => {
      if (!(child instanceof Mesh)) return;
      const copy = new Mesh(child.geometry, this.look);
      copy.matrixAutoUpdate = false;
      copy.matrix.copy(node.matrixWorld).invert().multiply(child.matrixWorld);
      this.ghost.add(copy);
    });
    if (goal) toYUp(goal.position, this.ghost.position);
    else this.ghost.position.setFromMatrixPosition(node.matrixWorld);
    if (goal?.wxyz) toYUpQuaternion(goal.wxyz, this.ghost.quaternion);
    else node.getWorldQuaternion(this.ghost.quaternion);
    this.controls.attach(this.ghost);
  }

  dispose(): void {
    this.controls.detach();
    this.controls.dispose();
    this.look.dispose();
    painter().rig.setEnabled(true);
  }
}
