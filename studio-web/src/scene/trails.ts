// Where fingertips and bodies have been and will go: ribbons that fade away from the present, and
// pale copies of a body along its way.
import {
  BufferAttribute,
  CatmullRomCurve3,
  Color,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  ShaderMaterial,
  TubeGeometry,
  Vector3,
} from "three";

import type { ClipModel } from "./model";

const POINTS = 120;
const RADIUS = 0.0012;
const GHOSTS = 5;
const COLORS = ["#cc79a7", "#56b4e9", "#e0b400", "#009e73", "#8f7ee7", "#d5460a"];

const VERTEX = /* glsl */ `
  attribute float when;
  varying float age;
  uniform float now;
  void main() {
    age = when - now;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

const FRAGMENT = /* glsl */ `
  uniform vec3 tint;
  uniform float span;
  varying float age;
  void main() {
    float past = clamp(1.0 + age / span, 0.0, 1.0);
    float coming = clamp(1.0 - age / (0.6 * span), 0.0, 1.0);
    gl_FragColor = vec4(tint, age < 0.0 ? 0.2 + 0.8 * past : 0.1 + 0.3 * coming);
    #include <colorspace_fragment>
  }`;

/** A curve whose parameter is time, not length, so that what rests stays in place. */
class PathInTime extends CatmullRomCurve3 {
  override getPointAt(u: number, into?: Vector3): Vector3 {
    return this.getPoint(u, into);
  }

  override getTangentAt(u: number, into?: Vector3): Vector3 {
    return this.getTangent(u, into);
  }
}

export class Trails {
  readonly group = new Group();
  private readonly looks: ShaderMaterial[] = [];

  constructor(model: ClipModel) {
    const holders = [
      ...model.tips.map(({ node, point }) => ({ node, point, radius: RADIUS })),
      ...[...model.bodies.values()].map((node) => ({
        node: node as Object3D,
        point: new Vector3(),
        radius: RADIUS * 1.6,
      })),
    ];
    const paths = holders.map((): Vector3[] => []);
    model.sample(POINTS, () => {
      holders.forEach(({ node, point }, i) => paths[i]!.push(node.localToWorld(point.clone())));
    });
    paths.forEach((path, i) => {
      const { radius } = holders[i]!;
      this.addRibbon(path, radius, COLORS[i % COLORS.length]!, model.duration);
    });
    this.addGhosts(model);
  }

  setTime(seconds: number): void {
    for (const look of this.looks) look.uniforms.now!.value = seconds;
  }

  dispose(): void {
    this.group.traverse((node) => {
      if (!(node instanceof Mesh)) return;
      (node.material as { dispose(): void }).dispose();
      if (node.geometry instanceof TubeGeometry) node.geometry.dispose();
    });
  }

  private addRibbon(path: Vector3[], radius: number, color: string, duration: number): void {
    const length = path.reduce((sum, p, i) => sum + (i ? p.distanceTo(path[i - 1]!) : 0), 0);
    if (length < 0.004) return;
    const segments = (POINTS - 1) * 2;
    const tube = new TubeGeometry(new PathInTime(path), segments, radius, 6);
    const when = new Float32Array(tube.attributes.position!.count);
    const around = when.length / (segments + 1);
    for (let i = 0; i < when.length; i++) when[i] = (duration * Math.floor(i / around)) / segments;
    tube.setAttribute("when", new BufferAttribute(when, 1));
    const look = new ShaderMaterial({
      uniforms: {
        now: { value: 0 },
        tint: { value: new Color(color) },
        span: { value: Math.max(duration * 0.35, 0.3) },
      },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
    });
    this.looks.push(look);
    const mesh = new Mesh(tube, look);
    mesh.renderOrder = 10;
    mesh.frustumCulled = false;
    this.group.add(mesh);
  }

  private addGhosts(model: ClipModel): void {
    for (const body of model.bodies.values()) {
      const meshes: Mesh[] = [];
      body.traverse((node) => {
        if (node instanceof Mesh) meshes.push(node);
      });
      const poses = model.sample(GHOSTS, () =>
        meshes.map((m) => new Matrix4().copy(m.matrixWorld)),
      );
      const look = new MeshBasicMaterial({
        color: 0x8a97a8,
        transparent: true,
        opacity: 0.07,
        depthWrite: false,
      });
      for (const pose of poses) {
        meshes.forEach((mesh, i) => {
          const ghost = new Mesh(mesh.geometry, look);
          ghost.matrixAutoUpdate = false;
          ghost.matrix.copy(pose[i]!);
          ghost.renderOrder = 5;
          this.group.add(ghost);
        });
      }
    }
  }
}
