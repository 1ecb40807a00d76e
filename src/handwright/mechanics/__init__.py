"""Contact mechanics that methods share: momentum, friction cones, force solvers."""

from __future__ import annotations

from handwright.contact.edges import EdgeSides, edge_distance, edge_sides
from handwright.mechanics.cone_work import ConeWork, make_cone_work
from handwright.mechanics.cones import ContactForces, LeastForces, least_forces, solve_cones
from handwright.mechanics.momentum import RequiredWrench, required_wrench, smoothed
from handwright.mechanics.nnls import nearest_forces, nonnegative_least_squares, nonnegative_rows
from handwright.mechanics.pyramid import (
    PyramidWork,
    least_pyramid_forces,
    make_pyramid_work,
    solve_pyramids,
)
from handwright.mechanics.torques import gravity_torques, joint_torques, torque_maps
from handwright.mechanics.wrench import (
    ForceContacts,
    ForceProgram,
    ForceStatus,
    edge_wrenches,
    force_contacts,
    grasp_map,
)

__all__ = [
    "ConeWork",
    "ContactForces",
    "EdgeSides",
    "ForceContacts",
    "ForceProgram",
    "ForceStatus",
    "LeastForces",
    "PyramidWork",
    "RequiredWrench",
    "edge_distance",
    "edge_sides",
    "edge_wrenches",
    "force_contacts",
    "grasp_map",
    "gravity_torques",
    "joint_torques",
    "least_forces",
    "least_pyramid_forces",
    "make_cone_work",
    "make_pyramid_work",
    "nearest_forces",
    "nonnegative_least_squares",
    "nonnegative_rows",
    "required_wrench",
    "smoothed",
    "solve_cones",
    "solve_pyramids",
    "torque_maps",
]
