// Lights and ground, shared by all views: soft from everywhere, a key from the upper left that
// throws the shadow, and a rim from behind that lifts the hand off the background.
import {
  AmbientLight,
  DirectionalLight,
  HemisphereLight,
  type Object3D,
  PMREMGenerator,
  Scene,
  Vector3,
  type WebGLRenderer,
} from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";

import { Ground } from "./ground";
import type { ClipModel } from "./model";
import { quality } from "./quality";
import type { Frame } from "./rig";

const KEY = new Vector3(-0.3, 1, 0.28);
const UP = new Vector3(0, 1, 0);
const RIM = new Vector3(0.6, 0.5, -1);

export class World {
  readonly scene = new Scene();
  readonly ground = new Ground();
  private readonly key = new DirectionalLight(0xfff1e0, 2.1);
  private readonly rim = new DirectionalLight(0xdde8ff, 0.9);
  private readonly fill = new HemisphereLight(0xffffff, 0xc9b6a6, 0.25);
  private readonly base = new AmbientLight(0xffffff, 0.1);

  constructor(renderer: WebGLRenderer) {
    if (quality() === "full") {
      const generator = new PMREMGenerator(renderer);
      this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.06).texture;
      generator.dispose();
    } else {
      // Stands in for what a room reflects.
      this.fill.intensity = 1.5;
      this.base.intensity = 0.8;
    }
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(512, 512);
    this.key.shadow.radius = 7;
    this.key.shadow.normalBias = quality() === "full" ? 0.001 : 0.003;
    this.key.shadow.bias = -0.0006;
    const parts = [this.key, this.key.target, this.rim, this.rim.target, this.fill, this.base];
    this.scene.add(...parts, this.ground.table, this.ground.shadow);
  }

  setTheme(isDark: boolean): void {
    this.ground.setTheme(isDark);
    this.scene.environmentIntensity = isDark ? 0.3 : 0.38;
    this.key.intensity = isDark ? 2.0 : 2.3;
    this.rim.intensity = isDark ? 1.5 : 0.9;
  }

  add(object: Object3D): void {
    this.scene.add(object);
  }

  /** Puts light and ground where a view looks. */
  aim(model: Pick<ClipModel, "floor" | "hasTable">, frame: Frame): void {
    const reach = frame.distance * 0.28;
    const { middle } = frame;
    for (const [light, direction] of [
      [this.key, KEY],
      [this.rim, RIM],
    ] as const) {
      const from = direction.clone().applyAxisAngle(UP, frame.turn);
      light.position.copy(middle).addScaledVector(from, 2 * reach);
      light.target.position.copy(middle);
      light.target.updateMatrixWorld(true);
      light.updateMatrixWorld(true);
    }
    const camera = this.key.shadow.camera;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = reach * 0.1;
    camera.far = reach * 6;
    camera.updateProjectionMatrix();
    this.ground.place(middle.x, model.floor, middle.z, frame.distance * 0.75, model.hasTable);
  }
}
