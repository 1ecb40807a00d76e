"""Bodies that move freely, as parts of an MJCF scene."""

from __future__ import annotations

from xml.etree import ElementTree

from handwright.core.body import RigidBody
from handwright.physics.mjcf.export import add_inertial, text
from handwright.physics.shapes import body_shape

_Child = ElementTree.SubElement
BODY = "body:"
"""Before the name of a body in the names of its element, joint and geom."""


def section(root: ElementTree.Element, name: str) -> ElementTree.Element:
    """A section of a scene that has it, such as ``worldbody``."""
    found = root.find(name)
    assert found is not None
    return found


def add_free_body(root: ElementTree.Element, name: str, body: RigidBody) -> None:
    """Adds a body with its mass and one geom to a scene with sections ``worldbody`` and ``asset``.

    Args:
        root: The scene.
        name: Of the body.
        body: Itself.
    """
    shape = body_shape(body)
    element = _Child(section(root, "worldbody"), "body", name=BODY + name)
    _Child(element, "freejoint", name=BODY + name)
    add_inertial(element, body.mass, body.center, body.inertia)
    geom = {"name": BODY + name, **shape.geom}
    if shape.corners is not None:
        _Child(
            section(root, "asset"),
            "mesh",
            name=BODY + name,
            vertex=text(shape.corners.ravel()),
            inertia="convex",
        )
        geom["mesh"] = BODY + name
    _Child(element, "geom", geom)
