// What is aimed at: a ring at the height that was asked for, with its height beside it, or a pale
// copy of the box where it should be.
import {
  type Camera,
  Group,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  TorusGeometry,
  Vector3,
} from "three";

import type { ThrowingState } from "../messages";
import { toYUp } from "./axes";
import { ghostLook, haunt } from "./ghosts";
import type { ClipModel } from "./model";

/** m. */
const [RING, THIN] = [0.075, 0.0022];
/** How far from the box its wish must be to be shown, m. */
const FAR = 0.012;

export class TargetMarks {
  readonly group = new Group();
  private readonly ghost = new Group();
  private readonly pale = ghostLook(0.3);
  private readonly look = new MeshBasicMaterial({ color: 0x4f8df7, toneMapped: false });
  private readonly ring = new Mesh(
    new TorusGeometry(RING, THIN, 8, 64).rotateX(Math.PI / 2),
    this.look,
  );
  /** Written over the picture, where it stays sharp. */
  private readonly label = document.createElement("span");

  constructor(private readonly cell: HTMLElement) {
    this.group.add(this.ring, this.ghost);
    this.label.className = "target-label";
    this.label.dataset.testid = "throwing-ring";
    this.label.hidden = true;
    cell.append(this.label);
  }

  /** Takes over what the box looks like. */
  use(model: ClipModel, box: string): void {
    haunt(this.ghost, model, box, undefined, this.pale);
  }

  show(throwing: ThrowingState, palm: Vector3, box: Object3D | undefined): void {
    const isHeight = throwing.target === "height";
    this.ring.visible = isHeight;
    this.label.hidden = !isHeight;
    this.ring.position.copy(palm);
    this.ring.position.y += throwing.height;
    const text = `${throwing.height.toFixed(2)} m`;
    if (this.label.textContent !== text) this.label.textContent = text;
    toYUp(throwing.box, this.ghost.position);
    this.ghost.visible =
      throwing.target === "box" &&
      (!box?.visible || box.position.distanceTo(this.ghost.position) > FAR);
  }

  /** Puts the label beside the ring, as a camera sees it. */
  place(camera: Camera): void {
    if (this.label.hidden) return;
    const { width, height } = this.cell.getBoundingClientRect();
    const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    const seen = this.ring.position.clone().addScaledVector(right, RING).project(camera);
    const x = ((seen.x + 1) / 2) * width;
    const y = ((1 - seen.y) / 2) * height;
    this.label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  dispose(): void {
    this.label.remove();
    this.pale.dispose();
    this.look.dispose();
    this.ring.geometry.dispose();
  }
}
