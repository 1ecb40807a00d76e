// Models that are loaded, kept while they are wanted, with the surfaces that they share.
import { type BufferGeometry, Mesh } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";

import { ClipModel } from "./model";

const MOST_KEPT = 14;
const loader = new GLTFLoader();
const kept = new Map<string, Promise<ClipModel>>();
const surfaces = new Map<string, BufferGeometry>();

/** The model under a key; loaded once. The oldest are thrown away when there are many. */
export function modelOf(key: string, load: () => Promise<ArrayBuffer>): Promise<ClipModel> {
  const found = kept.get(key);
  if (found) {
    kept.delete(key);
    kept.set(key, found);
    return found;
  }
  const model = parse(load);
  kept.set(key, model);
  model.catch(() => kept.delete(key));
  for (const old of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    forget(old);
  }
  return model;
}

export function forget(key: string): void {
  const model = kept.get(key);
  kept.delete(key);
  model?.then((m) => m.dispose()).catch(() => undefined);
}

async function parse(load: () => Promise<ArrayBuffer>): Promise<ClipModel> {
  const gltf = await loader.parseAsync(await load(), "");
  gltf.scene.traverse((node) => {
    if (node instanceof Mesh) node.geometry = shared(node.geometry);
  });
  return new ClipModel(gltf);
}

/** The same surface comes with every solution of a scene; one copy is enough. */
function shared(geometry: BufferGeometry): BufferGeometry {
  const key = fingerprint(geometry);
  const first = surfaces.get(key);
  if (first) return first;
  surfaces.set(key, geometry);
  return geometry;
}

function fingerprint(geometry: BufferGeometry): string {
  let sum = 2166136261;
  const arrays = [...Object.values(geometry.attributes), geometry.index];
  for (const attribute of arrays) {
    if (!attribute) continue;
    const array = attribute.array as Float32Array;
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i += 7) sum = Math.imul(sum ^ (bytes[i] ?? 0), 16777619);
    sum = Math.imul(sum ^ bytes.length, 16777619);
  }
  return `${sum}:${arrays.map((a) => a?.count ?? 0).join(",")}`;
}
