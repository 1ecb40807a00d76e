"""What a job asks for, as a problem and a method."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.editing import with_body, with_friction, with_hand_offset, with_mass
from handwright.core.goal import Feature, Goal
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.mesh.bodies import load_body
from handwright.geometry.shapes import SHAPES, make_shape
from handwright.methods import Method, default_method
from handwright.methods.sampling import Pin
from handwright.studio.forms import make_method
from handwright.studio.messages import BodyEdit, GoalRequest, JobRequest
from handwright.studio.uploads.catalogue import digit_names, last_goal
from handwright.studio.uploads.files import mesh_upload
from handwright.studio.uploads.scenes import find_scene


class JobPlan(NamedTuple):
    """What a job does."""

    problem: Problem
    method: Method


class CheckedJob(NamedTuple):
    """What the list of jobs says of one."""

    method: str
    wanted: int | None
    """Motions asked for."""


def check_job(hidden: Path, request: JobRequest) -> CheckedJob:
    """Refuses a job that asks for what is not there, or cannot be."""
    plan = plan_job(hidden, request)
    return CheckedJob(plan.method.name, getattr(plan.method, "num_solutions", 1))


def plan_job(hidden: Path, request: JobRequest) -> JobPlan:
    """The problem, with all that the job changes, and the method."""
    problem = find_scene(hidden, request.scene)
    for edit in request.bodies:
        problem = _with_edit(hidden, problem, edit)
    for moved in request.hands:
        problem = with_hand_offset(problem, moved.hand, np.array(moved.offset))
    for goal in request.goals:
        problem = _with_goal(problem, goal)
    name = default_method(problem) if request.method is None else request.method
    extra: dict[str, Any] = {}
    if request.pins:
        if name != "sampling":
            raise InvalidValueError(
                f"Pins were given to the method '{name}'; only 'sampling' takes them."
            )
        extra["pins"] = tuple(_pins(problem, request))
    method = make_method(name, request.settings, extra)
    for key, most in _most().items():
        if getattr(method, key, 0) > most:
            raise InvalidValueError(
                f"'{key}' is {getattr(method, key)}; a job of the studio takes {most} at most. "
                "Choose less, or use the command line."
            )
    return JobPlan(problem, method)


def _most() -> dict[str, int]:
    """Largest settings of jobs; a slip of the keyboard must not take the whole machine."""
    return {
        "num_workers": os.cpu_count() or 1,
        "num_solutions": 1000,
        "time_budget": 86_400,
        "window": 1000,
        "max_frames": 1_000_000,
        "max_attempts": 10_000,
        "samples_per_phase": 200,
    }


def _pins(problem: Problem, request: JobRequest) -> list[Pin]:
    known = digit_names(problem)
    for pin in request.pins:
        if pin.digit not in known:
            raise UnknownNameError("digit of a pin", pin.digit, known)
        if pin.body is not None and pin.body not in problem.bodies:
            raise UnknownNameError("body of a pin", pin.body, problem.bodies)
    return [
        Pin(pin.digit, (pin.point[0], pin.point[1], pin.point[2]), pin.start, pin.end)
        for pin in request.pins
    ]


def _with_edit(hidden: Path, problem: Problem, edit: BodyEdit) -> Problem:
    if edit.body not in problem.bodies:
        raise UnknownNameError("body of this scene", edit.body, problem.bodies)
    if edit.shape is not None and edit.upload is not None:
        raise InvalidValueError(
            f"'{edit.body}' is given the shape '{edit.shape}' and an upload; choose one of them."
        )
    other = _other_body(hidden, edit)
    if other is not None:
        # The new one is as slippery as the old one unless told otherwise; it has its own weight.
        other = dataclasses.replace(other, name=edit.body)
        other = other.with_friction(problem.bodies[edit.body].friction)
        stand = edit.body in problem.tracks and bool(problem.gravity.any())
        problem = with_body(problem, edit.body, other, stand=stand)
    if edit.mass is not None:
        problem = with_mass(problem, edit.body, edit.mass)
    if edit.friction is not None:
        problem = with_friction(problem, edit.body, edit.friction)
    return problem


def _other_body(hidden: Path, edit: BodyEdit) -> RigidBody | None:
    if edit.shape is not None:
        if edit.shape not in SHAPES:
            raise UnknownNameError("shape", edit.shape, SHAPES)
        return make_shape(edit.shape)
    if edit.upload is not None:
        return load_body(mesh_upload(hidden, edit.upload), repair=True)
    return None


def _with_goal(problem: Problem, wanted: GoalRequest) -> Problem:
    """The problem with another last goal for a body."""
    if wanted.body not in problem.bodies:
        raise UnknownNameError("body of this scene", wanted.body, problem.bodies)
    if wanted.body in problem.tracks:
        raise InvalidValueError(
            f"'{wanted.body}' moves on a track here, so a goal changes nothing. Choose a scene "
            "with goals."
        )
    last = last_goal(problem, wanted.body)
    wxyz = None if wanted.wxyz is None else _unit(np.array(wanted.wxyz))
    goal = Goal(
        Feature(wanted.body) if last is None else last.feature,
        wanted.time,
        # It holds for as long as the one whose place it takes.
        wanted.time if last is None else max(last.end, wanted.time),
        position=np.array(wanted.position),
        wxyz=wxyz,
        weight=1.0 if last is None else last.weight,
    )
    return dataclasses.replace(problem, goals=(*(g for g in problem.goals if g is not last), goal))


def _unit(wxyz: np.ndarray) -> np.ndarray:
    norm = float(np.linalg.norm(wxyz))
    if not 0.5 < norm < 2.0:
        raise InvalidValueError(f"A goal's wxyz is {wxyz.tolist()}; expected a unit quaternion.")
    return wxyz / norm
