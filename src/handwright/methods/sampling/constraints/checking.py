"""Whether constraints name what there is, asked before anything is prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling


def check_names(problem: Problem, method: ContactSampling) -> None:
    """Refuses constraints on digits, hands or bodies that the problem does not have."""
    digits = [(hand, digit.name) for hand, model in problem.hands.items() for digit in model.digits]
    asked = [name for preference in method.preferences for name in preference.digits]
    asked += [name for rule in method.no_contact for name in rule.digits]
    asked += [name for region in method.grasp_regions for name in region.digits]
    for name in (*asked, *(pin.digit for pin in method.pins)):
        # Names are compared with those of their own kind, or no near one would be found.
        known = {f"{hand}.{digit}" if "." in name else digit for hand, digit in digits}
        if name not in known:
            raise UnknownNameError("digit", name, known)
    for region in method.grasp_regions:
        if region.body is not None and region.body not in problem.bodies:
            raise UnknownNameError("body in grasp_regions", region.body, problem.bodies)
    for fixed in method.fixed_joints:
        if fixed.hand not in problem.hands:
            raise UnknownNameError("hand in fixed_joints", fixed.hand, problem.hands)
    strange = {name for kept in method.kept for name in kept.body if name} - set(problem.bodies)
    strange |= {kept.hand for kept in method.kept} - set(problem.hands)
    if strange:
        raise InvalidValueError(
            f"What is kept concerns '{min(strange)}', which the problem '{problem.name}' does not "
            f"have; it has {', '.join([*problem.hands, *problem.bodies])}. Keep parts of a clip "
            "of the same problem."
        )


def limiting_settings(method: ContactSampling) -> str:
    """Names of the settings that keep digits from candidates, for messages; empty if none does."""
    names = ["no_contact", "forbidden", "grasp_regions", "fixed_joints"]
    names = [name for name in names if getattr(method, name)]
    return ", ".join([*names, "grasp_region"] if method.grasp_region != "anywhere" else names)
