// Messages are Z up with quaternions wxyz, .glb files and three.js are Y up with xyzw.
import { Quaternion, Vector3 } from "three";

export type Triple = readonly [number, number, number] | readonly number[];

export function toYUp(v: Triple, into = new Vector3()): Vector3 {
  return into.set(v[0] ?? 0, v[2] ?? 0, -(v[1] ?? 0));
}

export function toZUp(v: Vector3): [number, number, number] {
  return [v.x, -v.z, v.y];
}

export function toZUpWxyz(q: Quaternion): [number, number, number, number] {
  return [q.w, q.x, -q.z, q.y];
}

export function toYUpQuaternion(wxyz: readonly number[], into = new Quaternion()): Quaternion {
  const [w = 1, x = 0, y = 0, z = 0] = wxyz;
  return into.set(x, z, -y, w);
}
