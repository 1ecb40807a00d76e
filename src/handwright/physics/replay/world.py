"""The hands, bodies and surroundings of a problem as one MuJoCo model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.physics.mjcf.export import text, to_mjcf
from handwright.physics.mjcf.free_bodies import BODY, add_free_body, section
from handwright.physics.shapes import surface_geom

_Child = ElementTree.SubElement
SURFACE, GUIDE = "surface:", "guide"
_GRAIN = 1e-4
"""Of surfaces, m: the arm that resists rolling, so that what lies round on a table stays there."""
GUIDE_LAG = 0.004
"""Half the time by which a root follows its guide, s."""


@dataclass(frozen=True, slots=True)
class Contacting:
    """How surfaces in contact behave."""

    timestep: float = 0.001
    """s."""
    pad_radius: float = 0.004
    """Of the patch in which a soft pad touches, m: what keeps a body from spinning about a pad."""
    softness: float = 0.004
    """Time in which two surfaces come apart that were pressed into each other, s."""
    noslip_iterations: int = 10
    """Without these, friction gives way a little all the time, and held bodies creep."""


def replay_mjcf(
    problem: Problem, bulges: Mapping[str, Float[np.ndarray, " C"]], contacting: Contacting
) -> str:
    """MJCF text of a problem: hands welded to guides that are moved, bodies free.

    Only what is listed collides: hands with bodies and surroundings, bodies with each other and
    with surroundings. Digits pass through each other; the certificate judges that. ``bulges`` says,
    by hand, how far the skin stands out of each capsule, m.
    """
    root = ElementTree.Element("mujoco", model="replay")
    _Child(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    _Child(
        root,
        "option",
        timestep=text([contacting.timestep]),
        gravity=text(problem.gravity),
        integrator="implicitfast",
        cone="elliptic",
        impratio="10",
        iterations="100",
        tolerance="1e-10",
        noslip_iterations=str(contacting.noslip_iterations),
    )
    for part in ("asset", "worldbody", "contact", "equality", "actuator"):
        _Child(root, part)
    for name, model in problem.hands.items():
        _add_hand(root, name, model, bulges[name], contacting)
    for name, body in problem.bodies.items():
        add_free_body(root, name, body)
    for number, surface in enumerate(problem.environment):
        looks = {"name": f"{SURFACE}{number}", **surface_geom(surface)}
        _Child(section(root, "worldbody"), "geom", looks)
    _add_pairs(root, problem, contacting)
    for geom in root.iter("geom"):
        geom.set("contype", "0")
        geom.set("conaffinity", "0")
    return ElementTree.tostring(root, encoding="unicode")


def _add_hand(
    root: ElementTree.Element,
    name: str,
    model: HandModel,
    bulge: Float[np.ndarray, " C"],
    contacting: Contacting,
) -> None:
    prefix = f"{name}/"
    hand = ElementTree.fromstring(
        to_mjcf(model, actuators=True, prefix=prefix, timestep=contacting.timestep)
    )
    for body in hand.iter("body"):
        # Muscles carry the hand's own weight.
        body.set("gravcomp", "1")
    grown = {
        prefix + part: radius
        for part, radius in zip(model.capsules.names, model.capsules.radius + bulge, strict=True)
    }
    for geom in hand.iter("geom"):
        geom.set("size", text([grown[geom.get("name", "")]]))
    for part in ("worldbody", "equality", "actuator"):
        found = hand.find(part)
        if found is not None:
            section(root, part).extend(list(found))
    _Child(section(root, "worldbody"), "body", name=prefix + GUIDE, mocap="true")
    _Child(
        section(root, "equality"),
        "weld",
        body1=prefix + GUIDE,
        body2=prefix + "root",
        solref=text([GUIDE_LAG, 1.0]),
        solimp="0.99 0.999 0.001",
    )


def _add_pairs(root: ElementTree.Element, problem: Problem, contacting: Contacting) -> None:
    contact = section(root, "contact")

    def add(first: str, second: str, friction: float, radius: float = _GRAIN) -> None:
        # Uniform pressure on a round patch resists turning with two thirds of its radius.
        turning = 2.0 / 3.0 * friction * radius
        _Child(
            contact,
            "pair",
            geom1=first,
            geom2=second,
            condim="6",
            friction=text([friction, friction, turning, _GRAIN, _GRAIN]),
            solref=text([contacting.softness, 1.0]),
            solimp="0.95 0.99 0.001",
        )

    surfaces = {f"{SURFACE}{n}": s.friction for n, s in enumerate(problem.environment)}
    for name, model in problem.hands.items():
        for part in model.capsules.names:
            for body in problem.bodies:
                friction = problem.bodies[body].friction
                add(f"{name}/{part}", BODY + body, friction, contacting.pad_radius)
            for surface, friction in surfaces.items():
                add(f"{name}/{part}", surface, friction)
    for body in problem.bodies:
        for surface, friction in surfaces.items():
            add(BODY + body, surface, friction)
    for first, second in combinations(problem.bodies, 2):
        frictions = problem.bodies[first].friction, problem.bodies[second].friction
        add(BODY + first, BODY + second, min(frictions))
