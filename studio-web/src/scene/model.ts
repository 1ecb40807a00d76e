// A clip in three dimensions: what a .glb holds, at any of its times.
import {
  AnimationMixer,
  Box3,
  Group,
  LoopOnce,
  Mesh,
  type Object3D,
  SkinnedMesh,
  Sphere,
  Vector3,
} from "three";
import type { GLTF } from "three/examples/jsm/loaders/GLTFLoader.js";

import { extentsOf, placesOf } from "./extents";
import { kindOf, lookOf, setOpacity } from "./materials";
import { bestSide } from "./sides";
import { type Tip, tipsOf } from "./tips";

const SAMPLES = 24;
/** Smallest edge of a top that counts as a table, m. */
const TABLE = 0.5;
/** Between a fingertip and a body that it is about to touch, m. */
const NEAR = 0.03;
/** Room above bodies of which it is not known yet where they go, m. */
const LIFT = 0.12;
/** What is farther than this from all fingertips is an arm, which pictures may cut off, m. */
const ARM = 0.3;

interface Extras {
  hands: { name: string; joints: string[]; between?: string[] }[];
  bodies: { name: string }[];
}

export class ClipModel {
  readonly root = new Group();
  readonly duration: number;
  readonly handNames: string[];
  readonly jointNames = new Map<string, string[]>();
  /** Names of nodes that only the skin of a hand follows. */
  readonly betweenNames = new Map<string, string[]>();
  readonly bodies = new Map<string, Object3D>();
  readonly tips: Tip[] = [];
  /** Places that a camera must see, over the whole motion. */
  readonly points: Vector3[] = [];
  /** Those of bodies, and of hands while they are near them. */
  readonly corePoints: Vector3[] = [];
  /** From which the grip is seen best; null if nothing speaks for a side. */
  bestSide: Vector3 | null = null;
  /** Level of the table, or of the lowest point. */
  floor = 0;
  hasTable = false;
  private readonly nodes = new Map<string, Object3D>();
  private readonly mixer: AnimationMixer;
  private readonly handMeshes: Mesh[] = [];
  private shownTime = -1;

  constructor(gltf: GLTF) {
    this.root.add(gltf.scene);
    this.root.visible = false;
    const extras = (gltf.asset as { extras?: { handwright?: Extras } }).extras?.handwright;
    this.handNames = extras?.hands.map((hand) => hand.name) ?? [];
    for (const hand of extras?.hands ?? []) {
      this.jointNames.set(hand.name, hand.joints);
      this.betweenNames.set(hand.name, hand.between ?? []);
    }
    gltf.scene.traverse((node) => this.nodes.set(node.userData.name ?? node.name, node));
    for (const body of extras?.bodies ?? []) {
      const node = this.nodes.get(body.name);
      if (node) this.bodies.set(body.name, node);
    }
    this.dress();
    this.mixer = new AnimationMixer(gltf.scene);
    for (const clip of gltf.animations) {
      const action = this.mixer.clipAction(clip);
      action.setLoop(LoopOnce, 1);
      action.clampWhenFinished = true;
      action.play();
    }
    this.duration = Math.max(0, ...gltf.animations.map((clip) => clip.duration));
    this.findTips();
    this.measure();
    this.setTime(0);
  }

  node(name: string): Object3D | undefined {
    return this.nodes.get(name);
  }

  /** Moves everything to a time, s; a time after the end shows the end. */
  setTime(seconds: number): void {
    const time = Math.min(Math.max(seconds, 0), Math.max(this.duration - 1e-6, 0));
    if (time === this.shownTime) return;
    this.shownTime = time;
    this.mixer.setTime(time);
    this.root.updateMatrixWorld(true);
  }

  /** Places over the whole motion, each found by a function at evenly spaced times. */
  sample<T>(count: number, at: () => T): T[] {
    const before = this.shownTime;
    const found = Array.from({ length: count }, (_, i) => {
      this.setTime((this.duration * i) / Math.max(count - 1, 1));
      return at();
    });
    this.setTime(before);
    return found;
  }

  setHandOpacity(opacity: number): void {
    for (const mesh of this.handMeshes) setOpacity(mesh.material as never, opacity);
  }

  setTableVisible(isVisible: boolean): void {
    const group = this.nodes.get("environment");
    if (group) group.visible = isVisible;
  }

  dispose(): void {
    this.root.removeFromParent();
    this.mixer.stopAllAction();
    this.root.traverse((node) => {
      if (node instanceof SkinnedMesh) node.skeleton.dispose();
      if (node instanceof Mesh) (node.material as { dispose(): void }).dispose();
    });
  }

  private dress(): void {
    this.root.traverse((node) => {
      if (!(node instanceof Mesh)) return;
      const kind = kindOf(node);
      node.material = lookOf(node);
      node.castShadow = kind !== "environment";
      node.receiveShadow = true;
      // Bounds of skinned meshes are those of one posture only, and take long to find.
      node.frustumCulled = false;
      if (node instanceof SkinnedMesh) node.boundingSphere = new Sphere();
      if (kind === "skin" || kind === "nails" || kind === "robot") this.handMeshes.push(node);
    });
    // Planes, and boxes as wide as a table, are drawn as ground without an edge instead.
    for (const node of this.nodes.get("environment")?.children ?? []) {
      const box = new Box3().setFromObject(node);
      const size = box.getSize(new Vector3());
      const up = new Vector3(0, 1, 0).applyQuaternion(node.quaternion);
      if (up.y < 0.99 || Math.min(size.x, size.z) < TABLE) continue;
      this.floor = this.hasTable ? Math.max(this.floor, box.max.y) : box.max.y;
      this.hasTable = true;
      node.visible = false;
    }
  }

  private findTips(): void {
    const skins: SkinnedMesh[] = [];
    this.root.traverse((node) => {
      if (node instanceof SkinnedMesh) skins.push(node);
    });
    for (const name of this.handNames) {
      const hand = this.nodes.get(name);
      if (hand) this.tips.push(...tipsOf(hand, skins));
    }
  }

  private measure(): void {
    const bodies = [...this.bodies.values()];
    const handExtents = this.handMeshes.flatMap(extentsOf);
    const bodyExtents = bodies.flatMap(extentsOf);
    let wasNear = false;
    this.sample(SAMPLES, () => {
      const inside = bodies.map((body) => new Box3().setFromObject(body));
      const tips = this.tips.map((tip) => tip.node.localToWorld(tip.point.clone()));
      const isNear = tips.some((p) => inside.some((box) => box.distanceToPoint(p) < NEAR));
      wasNear ||= isNear;
      const ofHand = handExtents
        .flatMap(placesOf)
        .filter((place) => tips.some((tip) => tip.distanceTo(place) < ARM));
      const ofBodies = bodyExtents.flatMap(placesOf);
      this.points.push(...ofHand, ...ofBodies);
      this.corePoints.push(...(isNear ? ofHand : []), ...ofBodies);
    });
    // A hand that never comes near, as before anything is found, matters as much as the body.
    if (!wasNear) {
      const raised = this.corePoints.map((p) => p.clone().setY(p.y + LIFT));
      this.corePoints.push(...this.points, ...raised);
    }
    this.setTime(this.duration / 2);
    this.bestSide = bestSide(this);
    if (!this.hasTable) this.floor = Math.min(0, ...this.points.map((p) => p.y)) - 0.02;
  }
}
