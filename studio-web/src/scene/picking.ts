// What is under the pointer.
import { type Camera, Mesh, type Object3D, Raycaster, Vector2, Vector3 } from "three";

import type { ClipModel } from "./model";

export interface Hit {
  body: string;
  node: Object3D;
  /** In the world. */
  point: Vector3;
}

const ray = new Raycaster();

export function aim(
  event: { clientX: number; clientY: number },
  element: HTMLElement,
  camera: Camera,
): Raycaster {
  const box = element.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * 2 - 1;
  const y = 1 - ((event.clientY - box.top) / box.height) * 2;
  ray.setFromCamera(new Vector2(x, y), camera);
  return ray;
}

/** The nearest point of a body under the pointer. */
export function pickBody(
  event: { clientX: number; clientY: number },
  element: HTMLElement,
  camera: Camera,
  model: ClipModel,
): Hit | null {
  const caster = aim(event, element, camera);
  let best: (Hit & { distance: number }) | null = null;
  for (const [body, node] of model.bodies) {
    if (!node.visible) continue;
    const meshes: Object3D[] = [];
    node.traverse((child) => void (child instanceof Mesh && meshes.push(child)));
    const [hit] = caster.intersectObjects(meshes, false);
    if (hit && (!best || hit.distance < best.distance)) {
      best = { body, node, point: hit.point, distance: hit.distance };
    }
  }
  return best;
}
