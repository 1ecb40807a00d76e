"""Checks of the indices inside a hand, which its own nouns trust but a file may get wrong."""

from __future__ import annotations

import numpy as np

from handwright.core.contact import ENVIRONMENT
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.math.pose import UNIT_TOLERANCE


def hand_problems(model: HandModel) -> list[str]:
    """What is wrong with the indices and directions of a hand; empty if nothing is."""
    problems = []
    joints = model.joints
    if np.any((joints.leader < -1) | (joints.leader >= len(joints))):
        problems.append(f"joints/leader must be -1 to {len(joints) - 1}")
    if not 0 <= model.wrist_link < model.num_links:
        problems.append(f"wrist_link is {model.wrist_link}, expected 0 to {model.num_links - 1}")
    digit = model.capsules.digit
    if np.any((digit < -1) | (digit >= len(model.digits))):
        problems.append(f"capsules/digit must be -1 to {len(model.digits) - 1}")
    if len(model.capsules) and model.capsules.radius.min() <= 0.0:
        problems.append("capsules/radius must be above zero")
    if np.any(np.abs(np.linalg.norm(model.frames.wxyz, axis=-1) - 1.0) > UNIT_TOLERANCE):
        problems.append(f"frames/wxyz must have length 1 within {UNIT_TOLERANCE:g}")
    for kind, count in (
        ("frames", len(model.frames.link)),
        ("capsules", len(model.capsules.link)),
    ):
        names = getattr(model, kind).names
        if len(names) != count:
            problems.append(f"{kind} has {len(names)} names for {count} rows")
    for number, one in enumerate(model.digits):
        if not all(0 <= joint < len(joints) for joint in one.joints):
            problems.append(f"digits/{number}/joints must be 0 to {len(joints) - 1}")
        points = {"tip": one.tip, "pad": one.pad, "nail": one.nail}
        problems += [
            f"digits/{number}/{name}/link is {point.link}, expected 0 to {model.num_links - 1}"
            for name, point in points.items()
            if point is not None and not 0 <= point.link < model.num_links
        ]
    return problems


def toucher_problems(problem: Problem, touchers: tuple[str, ...]) -> list[str]:
    """Names in a contact table that are neither a hand nor the surroundings."""
    known = {*problem.hands, ENVIRONMENT}
    return [
        f"contacts/touchers names '{name}', expected a hand or '{ENVIRONMENT}'"
        for name in touchers
        if name not in known
    ]
