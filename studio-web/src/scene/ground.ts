// The table: light to the eye where the motion is, gone at a distance, with lines 5 cm apart.
import { CircleGeometry, Color, Mesh, ShaderMaterial, ShadowMaterial } from "three";

const VERTEX = /* glsl */ `
  varying vec2 at;
  varying vec2 world;
  void main() {
    at = position.xy;
    vec4 place = modelMatrix * vec4(position, 1.0);
    world = place.xz;
    gl_Position = projectionMatrix * viewMatrix * place;
  }`;

const FRAGMENT = /* glsl */ `
  uniform vec3 tint;
  uniform vec3 ink;
  uniform float strength;
  uniform float inkStrength;
  varying vec2 at;
  varying vec2 world;
  float lines(float step) {
    vec2 cell = world / step;
    vec2 near = abs(fract(cell - 0.5) - 0.5) / fwidth(cell);
    return 1.0 - min(min(near.x, near.y), 1.0);
  }
  void main() {
    float fade = 1.0 - smoothstep(0.15, 1.0, length(at));
    float grid = lines(0.05) * inkStrength * fade;
    gl_FragColor = vec4(mix(tint, ink, grid), fade * max(strength, grid));
    #include <colorspace_fragment>
  }`;

export class Ground {
  readonly table: Mesh<CircleGeometry, ShaderMaterial>;
  readonly shadow: Mesh<CircleGeometry, ShadowMaterial>;

  constructor() {
    const disc = new CircleGeometry(1, 64);
    const uniforms = {
      tint: { value: new Color() },
      ink: { value: new Color() },
      strength: { value: 0.6 },
      inkStrength: { value: 0.5 },
    };
    const look = new ShaderMaterial({
      uniforms,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
    });
    this.table = new Mesh(disc, look);
    this.shadow = new Mesh(disc, new ShadowMaterial({ opacity: 0.28, depthWrite: false }));
    this.table.renderOrder = -2;
    this.shadow.renderOrder = -1;
    this.shadow.receiveShadow = true;
    for (const mesh of [this.table, this.shadow]) mesh.rotation.x = -Math.PI / 2;
  }

  setTheme(isDark: boolean): void {
    const { uniforms } = this.table.material;
    uniforms.tint!.value.set(isDark ? 0x2b313b : 0xffffff);
    uniforms.ink!.value.set(isDark ? 0x5b6675 : 0xb4bdc9);
    uniforms.strength!.value = isDark ? 0.55 : 0.75;
    uniforms.inkStrength!.value = isDark ? 0.55 : 0.6;
    this.shadow.material.opacity = isDark ? 0.45 : 0.2;
  }

  place(x: number, y: number, z: number, radius: number, hasTable: boolean): void {
    for (const mesh of [this.table, this.shadow]) {
      mesh.position.set(x, y, z);
      mesh.scale.setScalar(radius);
      mesh.updateMatrixWorld(true);
    }
    this.table.visible = hasTable;
  }
}
