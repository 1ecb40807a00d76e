"""Surfaces that are not those of a solid thing: inside out, in pieces, with points that float."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.clips import bystander, clip_of, fist, frames, path, rising, still
from attacks.rows import FIGURES, MESH, SUNK, UNEXPLAINED, Attack
from handwright.core.body import RigidBody
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human


def inside_out(body):
    """The body with all its faces turned round."""
    return replace(body, faces=body.faces[:, ::-1])


def joined(body, *others) -> RigidBody:
    """The surfaces of several bodies as one body, with the mass of the first."""
    vertices, faces, edges = [body.vertices], [body.faces], [body.sharp_edges]
    count = len(body.vertices)
    for other in others:
        vertices.append(other.vertices)
        faces.append(other.faces + count)
        edges.append(other.sharp_edges + count)
        count += len(other.vertices)
    return replace(
        body,
        vertices=np.concatenate(vertices),
        faces=np.concatenate(faces),
        sharp_edges=np.concatenate(edges),
    )


def moved(body, offset):
    """The body's surface at another place in its frame."""
    return replace(body, vertices=body.vertices + np.asarray(offset, dtype=float))


def specks(places, size=0.001):
    """Boxes of a millimetre at some places."""
    speck = make_shape("box", width=size, depth=size, height=size)
    return [moved(speck, place) for place in places]


FEET = [(x, y, -0.45) for x in (-0.02, 0.02) for y in (-0.02, 0.02)]


def standing(body, z, count=20):
    """A body that stands still in front of a floor."""
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"body": (body, still((0.0, 0.0, z), count))},
        environment=(floor(),),
    )


def hand_in_an_inverted_box(count=20):
    """A hand is stuck in the middle of a solid box, whose faces are turned round."""
    box = inside_out(make_shape("box", width=0.4, depth=0.4, height=0.4))
    model = human()
    return clip_of(
        frames(count),
        hands={"hand": (model, still((-0.08, 0.0, 0.2), count), model.pose("rest"))},
        bodies={"box": (box, still((0.0, 0.0, 0.2), count))},
        environment=(floor(),),
    )


def box_in_an_inverted_box(count=20):
    """A box hangs in the middle of a larger one, which is solid but inside out."""
    outer = inside_out(make_shape("box", width=0.2, depth=0.2, height=0.2))
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={
            "outer": (outer, still((0.0, 0.0, 0.1), count)),
            "inner": (make_shape("box"), still((0.0, 0.0, 0.03), count)),
        },
        environment=(floor(),),
    )


def inverted_box():
    """A box whose faces are turned round stands on the floor: it is drawn inside out."""
    return standing(inside_out(make_shape("box")), 0.03)


def half_inverted_box():
    """A box of which one side is turned round stands on the floor."""
    box = make_shape("box")
    faces = box.faces.copy()
    faces[:2] = faces[:2, ::-1]
    return standing(replace(box, faces=faces), 0.03)


def stands_on_specks():
    """A box hovers 42 cm above the floor; four specks of its mesh lie there."""
    return standing(joined(make_shape("box"), *specks(FEET)), 0.4505)


def stands_on_loose_vertices():
    """A box hovers 42 cm above the floor; four vertices without faces lie there."""
    box = make_shape("box")
    return standing(replace(box, vertices=np.concatenate([box.vertices, FEET])), 0.45)


def stands_on_flat_triangles():
    """A box hovers above the floor; triangles without area lie there."""
    box, count = make_shape("box"), 8
    feet = np.array(FEET)
    flat = np.array([[count + k, count + k, count + k] for k in range(4)])
    body = replace(
        box, vertices=np.concatenate([box.vertices, feet]), faces=np.concatenate([box.faces, flat])
    )
    return standing(body, 0.45)


def held_by_specks(count=31):
    """A box is carried 30 cm beside a fist, which holds a speck of a ball of its mesh."""
    times, ball = frames(count), make_shape("sphere")
    box = moved(make_shape("box"), (0.0, 0.0, 0.3))
    pair = joined(ball, box)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"pair": (pair, pose)})


def open_box():
    """A box without its lid has a wall without thickness, and stands on the floor."""
    box = make_shape("box")
    return standing(replace(box, faces=box.faces[2:]), 0.03)


def hangs_on_a_thread(count=31):
    """A box hangs level, 30 cm below a fist, on a thread of a hundredth of a millimetre."""
    times, ball = frames(count), make_shape("sphere")
    box, line = make_shape("box"), make_shape("box", width=1e-5, depth=1e-5, height=0.3)
    whole = joined(ball, moved(line, (0.0, 0.0, -0.18)), moved(box, (0.0, 0.0, -0.35)))
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"whole": (whole, pose)})


def doubled_box():
    """Two boxes in one mesh overlap by half: a solid that cannot be."""
    return standing(joined(make_shape("box"), moved(make_shape("box"), (0.03, 0.02, 0.0))), 0.03)


ATTACKS = (
    Attack(hand_in_an_inverted_box, MESH | SUNK, under=("mesh", "surface", "inside out")),
    Attack(box_in_an_inverted_box, MESH | SUNK, under=("mesh", "surface", "inside out")),
    Attack(inverted_box, MESH, under=("mesh", "surface", "inside out")),
    Attack(half_inverted_box, MESH | UNEXPLAINED, under=("mesh", "surface", "inside out")),
    Attack(stands_on_specks, MESH, under=("part", "piece", "mesh")),
    Attack(stands_on_loose_vertices, MESH | UNEXPLAINED, under=("vertices", "mesh")),
    Attack(stands_on_flat_triangles, MESH | UNEXPLAINED, under=("triangle", "mesh", "vertices")),
    Attack(held_by_specks, MESH, under=("part", "piece", "mesh")),
    Attack(open_box, MESH, under=("mesh", "surface", "open", "closed")),
    Attack(hangs_on_a_thread, MESH | FIGURES, under=("part", "piece", "mesh", "mass", "inertia")),
)
