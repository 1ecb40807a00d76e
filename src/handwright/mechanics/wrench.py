"""Contacts as columns of the grasp map: what wrench every unit of contact force gives a body."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled, inlined, kernel

_UNIT_TOLERANCE = 1e-6
_NO_DRAG = 1e-12


class ForceStatus(IntEnum):
    """How a force problem ended."""

    FEASIBLE = 0
    INFEASIBLE = 1
    """The forces that came back leave the least residual the solver looks for."""
    STALLED = 2
    """Neither was proven; the forces are the last sound ones."""
    INVALID = 3
    """Numbers that are not finite went in; all forces are zero."""


class ForceContacts(NamedTuple):
    """Contacts of one body at one instant, in the world; compiled code takes it as it is."""

    arm: Float[np.ndarray, "N 3"]
    """From the centre of mass of the body, m."""
    normal: Float[np.ndarray, "N 3"]
    """Unit length, into the body."""
    friction: Float[np.ndarray, " N"]
    """Coulomb coefficients."""
    drag: Float[np.ndarray, "N 3"]
    """Direction of friction on the body where the contact slides, unit length and tangential;
    zero where it does not slide."""
    weight: Float[np.ndarray, " N"]
    """Price of normal force, relative to each other."""
    cap: Float[np.ndarray, " N"]
    """Largest normal force, N; infinity for none."""


class ForceProgram(NamedTuple):
    """What forces are looked for; compiled code takes it as it is."""

    contacts: ForceContacts
    """Finite, with unit normals."""
    count: int
    """How many of the contacts are in use, the first ones."""
    wrench: Float[np.ndarray, "6"]
    """Force (N), then moment about the centre of mass (N m), world axes."""
    force_scale: float
    """Unit of force, N: the weight of the body."""
    length_scale: float
    """Unit of length, m: the radius of gyration of the body."""
    tolerance: float
    """Largest residual of a feasible problem, in these units."""


def no_contacts(capacity: int) -> ForceContacts:
    """Room for contacts, with none in it."""
    return ForceContacts(
        np.zeros((capacity, 3)),
        np.zeros((capacity, 3)),
        np.zeros(capacity),
        np.zeros((capacity, 3)),
        np.ones(capacity),
        np.full(capacity, np.inf),
    )


def force_contacts(
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    *,
    center: ArrayLike = (0.0, 0.0, 0.0),
    friction: float | Float[np.ndarray, " N"],
    drag: Float[np.ndarray, "N 3"] | None = None,
    weight: float | Float[np.ndarray, " N"] = 1.0,
    cap: float | Float[np.ndarray, " N"] = np.inf,
) -> ForceContacts:
    """Checks contacts and puts them in the form that the solvers take.

    Contacts with the surroundings go in like any other.

    Args:
        points: Where the body is touched, in the world, m.
        normals: Unit length, into the body.
        center: Centre of mass of the body in the world, m.
        friction: Coulomb coefficients, 0 or more.
        drag: Where a contact slides, the velocity of what touches relative to the body, of any
            length: friction pulls the body that way. Zero where it does not slide. What it has
            along the normal is dropped.
        weight: Price of a unit of normal force; 0 or more, at least one above 0. A price below a
            millionth of the highest counts as that, so that no force is free.
        cap: Largest normal force, N, 0 or more.
    """
    points, normals = np.asarray(points, dtype=np.float64), np.asarray(normals, dtype=np.float64)
    middle = np.asarray(center, dtype=np.float64)
    count = len(points)
    drags = np.zeros((count, 3)) if drag is None else np.asarray(drag, dtype=np.float64)
    problems = [
        f"{name} has shape {array.shape}, expected {shape}"
        for name, array, shape in (
            ("points", points, (count, 3)),
            ("normals", normals, (count, 3)),
            ("drag", drags, (count, 3)),
            ("center", middle, (3,)),
        )
        if array.shape != shape
    ]
    numbers = {}
    for name, value in (("friction", friction), ("weight", weight), ("cap", cap)):
        array = np.asarray(value, dtype=np.float64)
        if array.shape not in ((), (count,)):
            problems.append(f"{name} has shape {array.shape}, expected ({count},) or one number")
        elif np.isnan(array).any() or np.any(array < 0.0):
            problems.append(f"{name} holds NaN or negative numbers, expected 0 or more")
        elif name != "cap" and not np.isfinite(array).all():
            problems.append(f"{name} holds infinity, expected finite numbers")
        else:
            numbers[name] = np.array(np.broadcast_to(array, (count,)))
    if not problems:
        problems = _value_problems(points, normals, drags, middle, numbers["weight"])
    if problems:
        raise InvalidValueError("Contacts cannot be used: " + "; ".join(problems) + ".")
    along = np.einsum("ij,ij->i", drags, normals)[:, None] * normals
    speed = np.linalg.norm(drags - along, axis=1, keepdims=True)
    slides = speed > _NO_DRAG * np.maximum(1.0, np.linalg.norm(drags, axis=1, keepdims=True))
    return ForceContacts(
        arm=points - middle,
        normal=normals.copy(),
        friction=numbers["friction"],
        drag=np.divide(drags - along, speed, out=np.zeros((count, 3)), where=slides),
        weight=numbers["weight"],
        cap=numbers["cap"],
    )


def _value_problems(
    points: np.ndarray,
    normals: np.ndarray,
    drags: np.ndarray,
    center: np.ndarray,
    weight: np.ndarray,
) -> list[str]:
    problems = [
        f"{name} holds NaN or infinity; leave such contacts out"
        for name, array in (
            ("points", points),
            ("normals", normals),
            ("drag", drags),
            ("center", center),
        )
        if not np.isfinite(array).all()
    ]
    lengths = np.linalg.norm(normals, axis=1)
    # Written so that NaN counts as bad.
    bad = ~(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE)
    if bad.any() and not problems:
        row = int(np.argmax(bad))
        problems.append(f"normals[{row}] has length {lengths[row]:.6g}, expected 1 within 1e-6")
    if len(weight) and weight.max() <= 0.0:
        problems.append("every weight is 0, expected at least one above 0")
    return problems


@inlined
def tangents(normal: np.ndarray, row: int) -> tuple[float, float, float, float, float, float]:
    """Two unit vectors that complete a normal to a right-handed frame, one after the other."""
    x, y, z = normal[row, 0], normal[row, 1], normal[row, 2]
    # No branch but the sign, hence no direction near which the frame is ill-defined.
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    return 1.0 + sign * x * x * a, sign * b, -sign * x, b, sign + y * y * a, -y


@inlined
def set_column(
    columns: np.ndarray, row: int, arm: np.ndarray, contact: int, force: tuple, length: float
) -> None:
    """Wrench of a force at a contact; moments are divided by a length."""
    fx, fy, fz = force
    px, py, pz = arm[contact, 0] / length, arm[contact, 1] / length, arm[contact, 2] / length
    columns[row, 0], columns[row, 1], columns[row, 2] = fx, fy, fz
    columns[row, 3] = py * fz - pz * fy
    columns[row, 4] = pz * fx - px * fz
    columns[row, 5] = px * fy - py * fx


@inlined
def clear_forces(program: ForceProgram, force: np.ndarray, residual: np.ndarray) -> None:
    """Sets the forces of a program to zero, and what they leave of its wrench."""
    for k in range(6):
        residual[k] = program.wrench[k]
    for i in range(program.count):
        for k in range(3):
            force[i, k] = 0.0


@inlined
def residual_size(program: ForceProgram, residual: np.ndarray) -> float:
    """The larger of a residual's force and moment, in the units of its program."""
    push = turn = 0.0
    for k in range(3):
        push += residual[k] ** 2
        turn += residual[3 + k] ** 2
    return max(np.sqrt(push), np.sqrt(turn) / program.length_scale) / program.force_scale


@inlined
def edge_force(contacts: ForceContacts, i: int, cosine: float, sine: float) -> tuple:
    """Force of unit normal part on the cone of a contact, at an angle about the normal."""
    n, mu, d = contacts.normal, contacts.friction[i], contacts.drag
    if d[i, 0] != 0.0 or d[i, 1] != 0.0 or d[i, 2] != 0.0:
        return n[i, 0] + mu * d[i, 0], n[i, 1] + mu * d[i, 1], n[i, 2] + mu * d[i, 2]
    ax, ay, az, bx, by, bz = tangents(n, i)
    a, b = mu * cosine, mu * sine
    return (n[i, 0] + a * ax + b * bx, n[i, 1] + a * ay + b * by, n[i, 2] + a * az + b * bz)


@kernel
def has_one_edge(contacts: ForceContacts, i: int) -> bool:
    """Whether the cone of a contact is a ray: it slides, or there is no friction."""
    d = contacts.drag
    return contacts.friction[i] == 0.0 or d[i, 0] != 0.0 or d[i, 1] != 0.0 or d[i, 2] != 0.0


@compiled
def _fill_edges(
    contacts: ForceContacts, num_edges: int, columns: np.ndarray, owner: np.ndarray
) -> int:
    row = 0
    for i in range(contacts.arm.shape[0]):
        for k in range(1 if has_one_edge(contacts, i) else num_edges):
            angle = 2.0 * np.pi * k / num_edges
            force = edge_force(contacts, i, np.cos(angle), np.sin(angle))
            set_column(columns, row, contacts.arm, i, force, 1.0)
            owner[row] = i
            row += 1
    return row


def grasp_map(contacts: ForceContacts) -> Float[np.ndarray, "6 M"]:
    """Matrix from stacked contact forces (3 N numbers, world axes, N) to the wrench on the body.

    The wrench is force (N), then moment about the centre of mass (N m), in world axes.
    """
    moments = np.cross(contacts.arm[:, None], np.eye(3))
    forces = np.broadcast_to(np.eye(3), moments.shape)
    return np.ascontiguousarray(np.concatenate([forces, moments], axis=-1).reshape(-1, 6).T)


def edge_wrenches(
    contacts: ForceContacts, num_edges: int
) -> tuple[Float[np.ndarray, "6 M"], np.ndarray]:
    """Wrenches of the edges of friction pyramids, and the contact of each.

    Edges lie on the cones and have a normal part of 1 N. A contact that slides or has no friction
    has one. The first three rows are the forces themselves.
    """
    check_edges(num_edges)
    columns = np.zeros((num_edges * len(contacts.arm), 6))
    owner = np.zeros(len(columns), dtype=np.int64)
    used = _fill_edges(contacts, num_edges, columns, owner)
    return np.ascontiguousarray(columns[:used].T), owner[:used]


def check_edges(num_edges: int) -> None:
    """Refuses pyramids that are none."""
    if num_edges < 3:
        raise InvalidValueError(
            f"num_edges is {num_edges}; a friction pyramid needs at least 3, 8 are usual."
        )


def check_positive(**values: float | None) -> None:
    """Refuses settings that are not positive finite numbers; None stands for one left out."""
    for name, value in values.items():
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise InvalidValueError(f"{name} is {value}; expected a positive finite number.")


def check_wrench(wrench: ArrayLike) -> Float[np.ndarray, "6"]:
    """The wrench as an array, or an error that says what is wrong with it."""
    array = np.array(wrench, dtype=np.float64)
    if array.shape != (6,) or not np.isfinite(array).all():
        raise InvalidValueError(
            f"wrench is {array.tolist()}; expected six finite numbers: force (N), then moment "
            "about the centre of mass (N m)."
        )
    return array


def force_program(
    contacts: ForceContacts,
    wrench: ArrayLike,
    force_scale: float | None,
    length_scale: float | None,
    tolerance: float,
) -> ForceProgram:
    """Checks a program; units of force (N) and length (m) that are given are kept.

    Else the length is the root mean square distance of the contacts from the centre of mass, and
    the force that of the wrench, whose moment counts as a force at that distance.
    """
    target = check_wrench(wrench)
    check_positive(tolerance=tolerance, force_scale=force_scale, length_scale=length_scale)
    if length_scale is None:
        spread = float(np.sqrt(np.mean(contacts.arm**2) * 3.0)) if len(contacts.arm) else 0.0
        length_scale = spread if spread > 0.0 else 1.0
    if force_scale is None:
        push, turn = np.linalg.norm(target[:3]), np.linalg.norm(target[3:]) / length_scale
        size = float(np.hypot(push, turn))
        force_scale = size if size > 0.0 else 1.0
    return ForceProgram(contacts, len(contacts.arm), target, force_scale, length_scale, tolerance)
