// One small triangle of each kind that clips are made of. Drawn once before any clip is there, they
// teach the graphics card, or the processor in its place, how to draw the clips themselves, which
// takes longer than fetching them. Their materials stay, and with them what was learnt.
import {
  Bone,
  BufferAttribute,
  BufferGeometry,
  Group,
  Mesh,
  MeshStandardMaterial,
  Skeleton,
  SkinnedMesh,
  Sphere,
} from "three";

import { lookOf } from "./materials";

export function standIns(): Group {
  const group = new Group();
  const skin = new SkinnedMesh(triangle(), named("skin"));
  const bone = new Bone();
  skin.add(bone);
  skin.bind(new Skeleton([bone]));
  skin.boundingSphere = new Sphere();
  group.add(skin, new Mesh(triangle(), named("body")));
  group.traverse((node) => {
    if (!(node instanceof Mesh)) return;
    node.material = lookOf(node);
    node.castShadow = node.receiveShadow = true;
    node.frustumCulled = false;
  });
  return group;
}

function named(name: string): MeshStandardMaterial {
  const material = new MeshStandardMaterial();
  material.name = name;
  return material;
}

/** In the layout of the files, for which drawing is learnt too. */
function triangle(): BufferGeometry {
  const geometry = new BufferGeometry();
  const size = 0.01;
  const corners = new Float32Array([0, 0, 0, size, 0, 0, 0, size, 0]);
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array([0, 0, 1, 0, 0, 1, 0, 0, 1]), 3));
  geometry.setAttribute("skinIndex", new BufferAttribute(new Uint8Array(12), 4));
  const weights = new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
  geometry.setAttribute("skinWeight", new BufferAttribute(weights, 4));
  geometry.setIndex(new BufferAttribute(new Uint16Array([0, 1, 2]), 1));
  return geometry;
}
