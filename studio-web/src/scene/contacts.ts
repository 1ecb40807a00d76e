// Contacts of one frame: a dot in the colour of its mode, an arrow for the force, and the friction
// cone. Dots and arrows are drawn over the geometry, which would hide most of them.
import {
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";

import { marginColor, MODE_COLORS } from "./modes";

/** A contact in the axes of the scene. */
export interface ShownContact {
  point: Vector3;
  normal: Vector3 | null;
  force: Vector3 | null;
  mode: number;
  margin: number | null;
  friction: number;
}

const MOST = 96;
const UP = new Vector3(0, 1, 0);
const WHITE = new Color(0xffffff);
const DOT = 0.0032;
const SHAFT = 0.0014;
const HEAD = 0.013;
/** Height of the friction cones, m. */
const CONE = 0.022;
/** Longest arrow, m, whatever the force. */
const LONGEST = 0.12;

export class ContactMarks {
  readonly group = new Group();
  metresPerNewton = 0.02;
  private readonly halos = marks(new SphereGeometry(DOT * 1.35, 20, 14), 20, 1);
  private readonly dots = marks(new SphereGeometry(DOT, 20, 14), 21, 1);
  private readonly shafts = marks(upright(new CylinderGeometry(SHAFT, SHAFT, 1, 12), 0.5), 18, 1);
  private readonly heads = marks(upright(new ConeGeometry(SHAFT * 3, 1, 16), 0.5), 18, 1);
  private readonly cones = marks(coneFromTip(), 15, 0.28);

  constructor() {
    this.cones.material.side = DoubleSide;
    this.cones.material.depthTest = true;
    this.group.add(this.cones, this.shafts, this.heads, this.halos, this.dots);
  }

  setShown(shown: { dots: boolean; forces: boolean; cones: boolean }): void {
    this.halos.visible = this.dots.visible = shown.dots;
    this.shafts.visible = this.heads.visible = shown.forces;
    this.cones.visible = shown.cones;
  }

  show(contacts: readonly ShownContact[]): void {
    const drawn = contacts.slice(0, MOST);
    const place = new Matrix4();
    const turn = new Quaternion();
    const size = new Vector3();
    const color = new Color();
    drawn.forEach((contact, i) => {
      const { point, force, normal } = contact;
      place.makeTranslation(point);
      this.halos.setMatrixAt(i, place);
      this.halos.setColorAt(i, WHITE);
      this.dots.setMatrixAt(i, place);
      this.dots.setColorAt(i, MODE_COLORS[contact.mode] ?? WHITE);
      const newtons = force?.length() ?? 0;
      const length = Math.min(newtons * this.metresPerNewton, LONGEST);
      marginColor(contact.margin, color);
      if (force && length > 1e-4) {
        const along = force.clone().divideScalar(newtons);
        turn.setFromUnitVectors(UP, along);
        const head = Math.min(HEAD, length * 0.6);
        const tail = point.clone().addScaledVector(along, -length);
        this.shafts.setMatrixAt(i, place.compose(tail, turn, size.set(1, length - head, 1)));
        tail.addScaledVector(along, length - head);
        this.heads.setMatrixAt(i, place.compose(tail, turn, size.set(1, head, 1)));
      } else {
        this.shafts.setMatrixAt(i, place.makeScale(0, 0, 0));
        this.heads.setMatrixAt(i, place);
      }
      this.shafts.setColorAt(i, color);
      this.heads.setColorAt(i, color);
      this.placeCone(i, contact, normal, color);
    });
    for (const mesh of [this.halos, this.dots, this.shafts, this.heads, this.cones]) {
      mesh.count = drawn.length;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  dispose(): void {
    for (const mesh of [this.halos, this.dots, this.shafts, this.heads, this.cones]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
  }

  /** The cone opens against the normal, where the arrow of an allowed force must lie. */
  private placeCone(i: number, contact: ShownContact, normal: Vector3 | null, color: Color): void {
    const place = new Matrix4();
    if (normal && contact.force) {
      const turn = new Quaternion().setFromUnitVectors(UP, normal.clone().negate());
      const wide = contact.friction * CONE;
      place.compose(contact.point, turn, new Vector3(wide, CONE, wide));
    } else {
      place.makeScale(0, 0, 0);
    }
    this.cones.setMatrixAt(i, place);
    this.cones.setColorAt(i, color);
  }
}

function marks(
  geometry: BufferGeometry,
  order: number,
  opacity: number,
): InstancedMesh<BufferGeometry, MeshBasicMaterial> {
  const look = new MeshBasicMaterial({
    depthTest: false,
    depthWrite: false,
    transparent: true,
    opacity,
    toneMapped: false,
  });
  const mesh = new InstancedMesh(geometry, look, MOST);
  mesh.renderOrder = order;
  mesh.frustumCulled = false;
  mesh.count = 0;
  return mesh;
}

function upright(geometry: BufferGeometry, shift: number): BufferGeometry {
  return geometry.translate(0, shift, 0);
}

/** A cone of height and radius 1 whose tip is at the origin and which opens upwards. */
function coneFromTip(): BufferGeometry {
  return new ConeGeometry(1, 1, 28, 1, true).rotateX(Math.PI).translate(0, 0.5, 0);
}
