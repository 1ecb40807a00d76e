// How surfaces look. A file's own materials say what a surface is; the studio says how it shines.
import {
  Color,
  DoubleSide,
  FrontSide,
  type Material,
  type Mesh,
  MeshLambertMaterial,
  MeshPhysicalMaterial,
  type MeshPhysicalMaterialParameters,
  type MeshStandardMaterial,
} from "three";

import { quality } from "./quality";

/** What a mesh of a .glb shows, told by the name of its material. */
export type Kind = "skin" | "nails" | "robot" | "figure" | "environment" | "body";

export function kindOf(mesh: Mesh): Kind {
  const name = (mesh.material as Material).name;
  if (name === "skin" || name === "nails" || name === "figure" || name === "environment") return name;
  return name === "hand" ? "robot" : "body";
}

/** A processor that draws by itself takes seconds to learn to draw what shines. */
function surface(look: MeshPhysicalMaterialParameters): Material {
  if (quality() === "full") return new MeshPhysicalMaterial(look);
  const { color, side } = look;
  return new MeshLambertMaterial({ color: color!, side: side ?? FrontSide });
}

/** Light that enters skin leaves it redder and round the edge of shadows; sheen stands for both. */
function skin(color: Color): Material {
  return surface({
    color: color.clone().multiply(new Color(0.98, 0.95, 0.93)),
    roughness: 0.55,
    sheen: 0.3,
    sheenRoughness: 0.5,
    sheenColor: new Color(0.9, 0.42, 0.32),
    specularIntensity: 0.5,
    envMapIntensity: 0.9,
  });
}

export function lookOf(mesh: Mesh): Material {
  const given = mesh.material as MeshStandardMaterial;
  const kind = kindOf(mesh);
  if (kind === "skin") return skin(given.color);
  if (kind === "nails") {
    return surface({
      color: given.color.clone().multiply(new Color(1.0, 0.88, 0.84)),
      roughness: 0.28,
      clearcoat: 0.4,
      clearcoatRoughness: 0.3,
    });
  }
  if (kind === "robot") {
    return surface({ color: given.color, roughness: 0.38, metalness: 0.45 });
  }
  if (kind === "figure") return surface({ color: given.color, roughness: 0.9 });
  if (kind === "environment") {
    return surface({ color: 0xb9b4aa, roughness: 0.85, side: DoubleSide });
  }
  return surface({
    color: given.color,
    roughness: 0.42,
    clearcoat: 0.25,
    clearcoatRoughness: 0.45,
    side: DoubleSide,
  });
}

/** Makes a material see-through; depth is still written, so that a hand hides its own far side. */
export function setOpacity(material: Material, opacity: number): void {
  material.transparent = opacity < 1;
  material.opacity = opacity;
  material.depthWrite = true;
  material.needsUpdate = true;
}
