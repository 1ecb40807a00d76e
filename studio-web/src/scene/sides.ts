// From which side a grip is seen best: across the forearm, with the thumb in front, so that the
// back of the hand does not hide what the fingers do.
import { Vector3 } from "three";

import type { ClipModel } from "./model";

const UP = new Vector3(0, 1, 0);
/** Between the forearm and the camera, rad. */
const ACROSS = 1.15;
/** The same where a person sits behind the arm, who would hide the hand from farther back. */
const BEFORE_FIGURE = 2.0;
/** Between what several hands come from and a camera that looks towards them, rad. */
const FACING = Math.PI - 0.6;
/** A hand nearer than this to straight above tells nothing, m. */
const LEAST = 0.04;

export function bestSide(model: ClipModel): Vector3 | null {
  const [body] = model.bodies.values();
  const roots = model.handNames.flatMap((hand) => model.node(`${hand}:root`) ?? []);
  if (!body || roots.length === 0) return null;
  const centre = new Vector3().setFromMatrixPosition(body.matrixWorld);
  const forearm = new Vector3();
  for (const root of roots) {
    const place = new Vector3().setFromMatrixPosition(root.matrixWorld);
    forearm.addScaledVector(place.sub(centre).setY(0), 1 / roots.length);
  }
  if (forearm.length() < LEAST) return null;
  // Two hands hide less of what is between them from the front.
  if (roots.length > 1) return forearm.applyAxisAngle(UP, FACING);
  const places = model.tips.map(({ node, point }) => node.localToWorld(point.clone()));
  const middle = places.reduce((sum, p) => sum.add(p), new Vector3());
  middle.divideScalar(Math.max(places.length, 1));
  const thumb = places[model.tips.findIndex((tip) => tip.name.includes("thumb"))] ?? middle;
  const towards = thumb.clone().sub(middle);
  const turn = model.node("figure") ? BEFORE_FIGURE : ACROSS;
  const sides = [turn, -turn].map((angle) => forearm.clone().applyAxisAngle(UP, angle));
  return sides.sort((a, b) => b.dot(towards) - a.dot(towards))[0] ?? null;
}
