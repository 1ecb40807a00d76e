// One camera for all views. It is kept relative to what is looked at, so that views of scenes that
// differ in place and size are turned and zoomed alike.
import { PerspectiveCamera, Quaternion, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export const FIELD_OF_VIEW = 25;
const HALF = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
/** From the right and above, as pictures of the package are taken. */
const DIRECTION = new Vector3(0.453, 0.423, 0.785).normalize();

/** What a camera looks at: a middle, and the distance from which all is seen, m. */
export interface Frame {
  middle: Vector3;
  distance: number;
  /** By which the camera goes round the upright axis before its user turns it, rad. */
  turn: number;
}

const UP = new Vector3(0, 1, 0);
/** Between straight down and a camera that stays above, rad. */
const LOWEST = Math.PI / 2 - 0.04;

export class Rig {
  /** In units of a frame's distance, about its middle. */
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  private controls: OrbitControls | null = null;

  constructor(private readonly changed: () => void) {
    this.reset();
  }

  attach(element: HTMLElement): void {
    this.detach();
    const controls = new OrbitControls(this.camera, element);
    controls.enableDamping = false;
    controls.minDistance = 0.15;
    controls.maxDistance = 5;
    controls.zoomSpeed = 0.8;
    controls.addEventListener("change", this.changed);
    this.controls = controls;
  }

  /** Until the camera is attached elsewhere it stays above what it looks at, and so the floor. */
  keepAbove(): void {
    const { controls } = this;
    if (!controls) return;
    controls.maxPolarAngle = LOWEST;
    controls.addEventListener("change", () => {
      const under = controls.target.y;
      if (under >= 0) return;
      controls.target.y = 0;
      this.camera.position.y -= under;
    });
    controls.update();
  }

  detach(): void {
    this.controls?.dispose();
    this.controls = null;
  }

  setEnabled(isEnabled: boolean): void {
    if (this.controls) this.controls.enabled = isEnabled;
  }

  reset(): void {
    this.camera.position.copy(DIRECTION);
    this.controls?.target.set(0, 0, 0);
    this.camera.lookAt(0, 0, 0);
    this.controls?.update();
    this.changed();
  }

  /** Places a camera of the world for a frame, moved by an offset (m) if it follows something. */
  place(camera: PerspectiveCamera, frame: Frame, aspect: number, offset: Vector3): void {
    const turn = new Quaternion().setFromAxisAngle(UP, frame.turn);
    camera.position
      .copy(this.camera.position)
      .applyQuaternion(turn)
      .multiplyScalar(frame.distance)
      .add(frame.middle)
      .add(offset);
    camera.quaternion.multiplyQuaternions(turn, this.camera.quaternion);
    camera.fov = FIELD_OF_VIEW;
    camera.aspect = aspect;
    camera.near = frame.distance * 0.02;
    camera.far = frame.distance * 40;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld(true);
  }
}

/** Shares of a picture that stay free: around what matters, and around what comes and goes. */
const BORDER = 0.1;
const EDGE = 0.03;
const RIGHT = UP.clone().cross(DIRECTION).normalize();
type Axes = readonly [right: Vector3, up: Vector3, back: Vector3];
const AXES: Axes = [RIGHT, DIRECTION.clone().cross(RIGHT), DIRECTION];

/** The frame that shows the whole motion, and its core well; from a direction, if one is given. */
export function frameOf(
  core: readonly Vector3[],
  all: readonly Vector3[],
  aspect: number,
  from: Vector3 | null,
): Frame {
  const turn = from ? Math.atan2(from.x, from.z) - Math.atan2(DIRECTION.x, DIRECTION.z) : 0;
  const axes = AXES.map((axis) => axis.clone().applyAxisAngle(UP, turn)) as unknown as Axes;
  const middle = new Vector3();
  if (all.length === 0) return { middle, distance: 1, turn };
  for (const axis of axes) {
    let [low, high] = [Infinity, -Infinity];
    for (const point of all) {
      const along = point.dot(axis);
      low = Math.min(low, along);
      high = Math.max(high, along);
    }
    middle.addScaledVector(axis, (low + high) / 2);
  }
  const near = distanceFor(core, middle, axes, aspect, HALF * (1 - 2 * BORDER));
  const far = distanceFor(all, middle, axes, aspect, HALF * (1 - 2 * EDGE));
  return { middle, distance: Math.max(near, far), turn };
}

/** From which all points are within an opening, given as its tangent, m. */
function distanceFor(
  points: readonly Vector3[],
  middle: Vector3,
  [right, up, back]: Axes,
  aspect: number,
  tangent: number,
): number {
  const seen = new Vector3();
  return points.reduce((most, p) => {
    seen.copy(p).sub(middle);
    const wide = Math.abs(seen.dot(right)) / (tangent * aspect);
    const tall = Math.abs(seen.dot(up)) / tangent;
    return Math.max(most, seen.dot(back) + Math.max(wide, tall));
  }, 0.05);
}
