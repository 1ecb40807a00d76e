// Something that is dragged in the plane that faces the camera.
import { Plane, Vector3 } from "three";

import { painter } from "./painter";
import { aim } from "./picking";

export class Drag {
  private readonly plane: Plane;
  /** From the pointer to the origin of what is dragged. */
  private readonly offset: Vector3;

  constructor(grabbed: Vector3, origin: Vector3) {
    const facing = painter().camera.getWorldDirection(new Vector3()).negate();
    this.plane = new Plane().setFromNormalAndCoplanarPoint(facing, grabbed);
    this.offset = origin.clone().sub(grabbed);
  }

  /** Where its origin should be, in the world; null where the pointer meets no such place. */
  place(event: { clientX: number; clientY: number }, element: HTMLElement): Vector3 | null {
    const { ray } = aim(event, element, painter().camera);
    const point = ray.intersectPlane(this.plane, new Vector3());
    return point?.add(this.offset) ?? null;
  }
}
