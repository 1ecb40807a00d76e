// Where digits end: the point of each last link that is farthest from its joint.
import { type BufferGeometry, Mesh, type Object3D, SkinnedMesh, Vector3 } from "three";

export interface Tip {
  node: Object3D;
  /** In the node's frame. */
  point: Vector3;
  name: string;
}

export function tipsOf(hand: Object3D, skins: SkinnedMesh[]): Tip[] {
  const tips: Tip[] = [];
  hand.traverse((node) => {
    if (!isLink(node) || node.children.some(isLink)) return;
    const name: string = node.userData.name;
    const point = farthestOfSkin(node, skins) ?? farthestOfMeshes(node);
    if (point) tips.push({ node, point, name });
  });
  return tips;
}

/** Nodes of links keep their name from the file, which has a colon in it. */
function isLink(node: Object3D): boolean {
  return String(node.userData.name ?? "").includes(":");
}

function farthestOfSkin(node: Object3D, skins: SkinnedMesh[]): Vector3 | null {
  let best: Vector3 | null = null;
  for (const skin of skins) {
    const bone = skin.skeleton.bones.findIndex((b) => b === node);
    if (bone < 0) continue;
    const { position, skinIndex, skinWeight } = skin.geometry.attributes;
    if (!position || !skinIndex || !skinWeight) continue;
    const inverse = skin.skeleton.boneInverses[bone];
    const point = new Vector3();
    for (let i = 0; i < position.count; i++) {
      if (skinIndex.getX(i) !== bone || skinWeight.getX(i) < 0.9) continue;
      point.fromBufferAttribute(position, i);
      if (inverse) point.applyMatrix4(inverse);
      if (!best || point.lengthSq() > best.lengthSq()) best = point.clone();
    }
  }
  return best;
}

function farthestOfMeshes(node: Object3D): Vector3 | null {
  let best: Vector3 | null = null;
  for (const child of [node, ...node.children]) {
    if (!(child instanceof Mesh)) continue;
    const position = (child.geometry as BufferGeometry).attributes.position;
    if (!position) continue;
    for (let i = 0; i < position.count; i++) {
      const point = new Vector3().fromBufferAttribute(position, i);
      if (!best || point.lengthSq() > best.lengthSq()) best = point;
    }
  }
  return best;
}
