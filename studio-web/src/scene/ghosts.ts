// Pale copies of bodies where they should be.
import { Group, Mesh, MeshStandardMaterial } from "three";

import type { GoalRequest } from "../messages";
import { toYUp, toYUpQuaternion } from "./axes";
import type { ClipModel } from "./model";

export function ghostLook(opacity: number): MeshStandardMaterial {
  return new MeshStandardMaterial({
    color: 0x4f8df7,
    transparent: true,
    opacity,
    depthWrite: false,
  });
}

/** Fills a group with a copy of a body, and puts it where a goal is, else where the body is now. */
export function haunt(
  group: Group,
  model: ClipModel,
  body: string,
  goal: GoalRequest | undefined,
  look: MeshStandardMaterial,
): boolean {
  const node = model.bodies.get(body);
  group.clear();
  if (!node) return false;
  node.traverse((child) => {
    if (!(child instanceof Mesh)) return;
    const copy = new Mesh(child.geometry, look);
    copy.matrixAutoUpdate = false;
    copy.matrix.copy(node.matrixWorld).invert().multiply(child.matrixWorld);
    group.add(copy);
  });
  if (goal) toYUp(goal.position, group.position);
  else group.position.setFromMatrixPosition(node.matrixWorld);
  if (goal?.wxyz) toYUpQuaternion(goal.wxyz, group.quaternion);
  else node.getWorldQuaternion(group.quaternion);
  return true;
}

/** The goals of a scene that nobody drags just now. */
export class GoalGhosts {
  readonly group = new Group();
  private readonly look = ghostLook(0.28);

  show(model: ClipModel, goals: readonly GoalRequest[]): void {
    this.group.clear();
    for (const goal of goals) {
      const ghost = new Group();
      if (haunt(ghost, model, goal.body, goal, this.look)) this.group.add(ghost);
    }
  }

  dispose(): void {
    this.look.dispose();
  }
}
