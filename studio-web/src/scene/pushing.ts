// Pulling at a body with the pointer: a spring from the grabbed point to the pointer's ray, in the
// plane that faces the camera.
import {
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Plane,
  SphereGeometry,
  Vector3,
} from "three";

import { painter } from "./painter";
import { aim, type Hit } from "./picking";

/** N for each metre. */
const STIFFNESS = 120;
/** N. */
export const MOST = 25;
const METRES_PER_NEWTON = 1 / STIFFNESS;
const UP = new Vector3(0, 1, 0);

export class Pull {
  readonly force = new Vector3();
  /** In the body's frame. */
  readonly grabbed: Vector3;
  private readonly plane = new Plane();
  private readonly pointer = new Vector3();

  constructor(
    readonly body: string,
    private readonly node: Object3D,
    hit: Hit,
  ) {
    this.grabbed = node.worldToLocal(hit.point.clone());
    const facing = painter().camera.getWorldDirection(new Vector3()).negate();
    this.plane.setFromNormalAndCoplanarPoint(facing, hit.point);
    this.pointer.copy(hit.point);
  }

  moveTo(event: { clientX: number; clientY: number }, element: HTMLElement): void {
    const ray = aim(event, element, painter().camera).ray;
    ray.intersectPlane(this.plane, this.pointer);
    this.update();
  }

  /** The force changes with the body too, not only with the pointer. */
  update(): void {
    this.force.copy(this.pointer).sub(this.place()).multiplyScalar(STIFFNESS).clampLength(0, MOST);
  }

  place(): Vector3 {
    return this.node.localToWorld(this.grabbed.clone());
  }
}

/** The pull as an arrow from the grabbed point. */
export class PullMark {
  readonly group = new Group();
  private readonly look = new MeshBasicMaterial({
    color: 0xc2398b,
    depthTest: false,
    transparent: true,
    toneMapped: false,
  });
  private readonly arrow = new Group();
  private readonly shaft = new Mesh(
    new CylinderGeometry(0.0016, 0.0016, 1, 12).translate(0, 0.5, 0),
    this.look,
  );
  private readonly head = new Mesh(
    new ConeGeometry(0.006, 0.016, 20).translate(0, 0.008, 0),
    this.look,
  );
  private readonly dot = new Mesh(new SphereGeometry(0.0045, 20, 14), this.look);

  constructor() {
    this.arrow.add(this.shaft, this.head);
    this.group.add(this.arrow, this.dot);
    for (const mesh of [this.shaft, this.head, this.dot]) mesh.renderOrder = 40;
    this.show(null);
  }

  show(pull: Pull | null): void {
    this.arrow.visible = this.dot.visible = pull !== null;
    if (!pull) return;
    const length = Math.max(pull.force.length() * METRES_PER_NEWTON, 1e-4);
    this.group.position.copy(pull.place());
    this.arrow.quaternion.setFromUnitVectors(UP, pull.force.clone().normalize());
    this.shaft.scale.y = length;
    this.head.position.y = length;
  }

  dispose(): void {
    this.look.dispose();
    for (const mesh of [this.shaft, this.head, this.dot]) mesh.geometry.dispose();
  }
}
