// How far surfaces reach: a few outermost points of each link of a hand, and of each body, which
// move with it. Cheap to follow over a motion, where whole surfaces are not.
import { type BufferGeometry, Mesh, type Object3D, SkinnedMesh, Vector3 } from "three";

export interface Extent {
  node: Object3D;
  /** In the node's frame. */
  points: readonly Vector3[];
}

/** Axes, and diagonals, without which round links would reach farther than is known. */
const ACROSS = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
  [1, 1, 1],
  [1, 1, -1],
  [1, -1, 1],
  [1, -1, -1],
].map((direction) => new Vector3().fromArray(direction));

/** Outermost points for each bone of a skin; the same skin comes with every solution of a scene. */
const ofSkins = new WeakMap<BufferGeometry, readonly (readonly Vector3[])[]>();

export function extentsOf(root: Object3D): Extent[] {
  const found: Extent[] = [];
  root.traverse((node) => {
    if (node instanceof SkinnedMesh) {
      const { bones } = node.skeleton;
      skinPoints(node).forEach((points, bone) => {
        if (points.length > 0) found.push({ node: bones[bone]!, points });
      });
    } else if (node instanceof Mesh) {
      found.push({ node, points: corners(node.geometry as BufferGeometry) });
    }
  });
  return found;
}

export function placesOf({ node, points }: Extent): Vector3[] {
  return points.map((point) => point.clone().applyMatrix4(node.matrixWorld));
}

function skinPoints(skin: SkinnedMesh): readonly (readonly Vector3[])[] {
  const known = ofSkins.get(skin.geometry);
  if (known) return known;
  const { position, skinIndex, skinWeight } = skin.geometry.attributes;
  const extremes = skin.skeleton.bones.map((): Vector3[] => []);
  if (position && skinIndex && skinWeight) {
    const point = new Vector3();
    for (let i = 0; i < position.count; i++) {
      let [bone, most] = [0, -1];
      for (let k = 0; k < 4; k++) {
        const weight = skinWeight.getComponent(i, k);
        if (weight > most) [bone, most] = [skinIndex.getComponent(i, k), weight];
      }
      const inverse = skin.skeleton.boneInverses[bone];
      if (!inverse) continue;
      point.fromBufferAttribute(position, i).applyMatrix4(inverse);
      keepOutermost(extremes[bone]!, point);
    }
  }
  ofSkins.set(skin.geometry, extremes);
  return extremes;
}

/** Keeps the lowest and the highest point along each direction, one after the other. */
function keepOutermost(kept: Vector3[], point: Vector3): void {
  if (kept.length === 0) for (let i = 0; i < 2 * ACROSS.length; i++) kept.push(point.clone());
  ACROSS.forEach((direction, i) => {
    const at = point.dot(direction);
    const [low, high] = [kept[2 * i]!, kept[2 * i + 1]!];
    if (at < low.dot(direction)) low.copy(point);
    if (at > high.dot(direction)) high.copy(point);
  });
}

function corners(geometry: BufferGeometry): Vector3[] {
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox!;
  return [min.x, max.x].flatMap((x) =>
    [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => new Vector3(x, y, z))),
  );
}
