// Pins on bodies: a ring and a dot where a digit must touch, pale while it need not.
import {
  Group,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Sprite,
  SpriteMaterial,
  CanvasTexture,
  Vector3,
} from "three";

import type { PinRequest } from "../messages";
import { toYUp } from "./axes";
import type { ClipModel } from "./model";

const COLOR = 0xcc4f9a;

export class PinMarks {
  readonly group = new Group();
  private readonly dot = new SphereGeometry(0.0035, 20, 14);
  private pins: readonly PinRequest[] = [];

  setPins(pins: readonly PinRequest[]): void {
    this.pins = pins;
    this.clear();
    for (const pin of pins) {
      const mark = new Group();
      const look = new MeshBasicMaterial({ color: COLOR, depthTest: false, transparent: true });
      const dot = new Mesh(this.dot, look);
      dot.renderOrder = 30;
      const label = labelOf(pin.digit.split(".").at(-1) ?? pin.digit);
      mark.add(dot, label);
      this.group.add(mark);
    }
  }

  place(model: ClipModel, time: number): void {
    const [first] = model.bodies.values();
    this.group.children.forEach((mark, i) => {
      const pin = this.pins[i]!;
      const body = model.bodies.get(pin.body ?? "") ?? first;
      if (!body) return;
      mark.position.copy(body.localToWorld(toYUp(pin.point, new Vector3())));
      const isOn = time >= pin.start - 1e-6 && time <= (pin.end ?? Infinity);
      for (const part of mark.children) {
        ((part as Mesh).material as MeshBasicMaterial).opacity = isOn ? 1 : 0.35;
      }
    });
  }

  clear(): void {
    for (const mark of [...this.group.children]) {
      for (const part of mark.children) {
        const material = (part as Mesh).material as MeshBasicMaterial;
        material.map?.dispose();
        material.dispose();
      }
      mark.removeFromParent();
    }
  }
}

/** The digit's name beside the dot, always of the same size on the screen. */
function labelOf(text: string): Sprite {
  const canvas = document.createElement("canvas");
  canvas.width = 256;
  canvas.height = 64;
  const ink = canvas.getContext("2d")!;
  ink.font = "600 36px 'Inter Variable', sans-serif";
  const width = ink.measureText(text).width + 36;
  ink.fillStyle = "#cc4f9a";
  ink.beginPath();
  ink.roundRect((256 - width) / 2, 6, width, 52, 26);
  ink.fill();
  ink.fillStyle = "#ffffff";
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  ink.fillText(text, 128, 33);
  const map = new CanvasTexture(canvas);
  const look = new SpriteMaterial({
    map,
    depthTest: false,
    transparent: true,
    sizeAttenuation: false,
  });
  const sprite = new Sprite(look);
  sprite.scale.set(0.09, 0.0225, 1);
  sprite.center.set(0.5, -0.6);
  sprite.renderOrder = 31;
  return sprite;
}
