"""The one verb of the package: a problem and a method in, certified clips out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from handwright.core.certificate import Certificate
from handwright.core.clip import Clip, Provenance
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Result, Watcher
from handwright.deprecated import renamed_keywords
from handwright.errors import InvalidValueError
from handwright.evidence import certify as make_certificate
from handwright.evidence.metrics.goals import missed_goals, touch_excess
from handwright.methods import Method
from handwright.methods.driver import GOALS, Judged, drive
from handwright.methods.provenance import provenance_of


@renamed_keywords(watcher="on_progress")
def synthesize(
    problem: Problem,
    method: Method,
    *,
    seed: int = 0,
    throw: bool = False,
    on_progress: Watcher | None = None,
    certify: bool = True,
) -> Result:
    """Turns a problem into certified clips.

    Every motion that the method finds is judged, with the tolerances that the settings of the
    method imply, before it becomes part of the result. One that is refused is counted in
    ``Result.refused`` and shown to ``on_progress``, and the method goes on to the next until enough
    have passed, or its time budget ends. Budgets are processor time, so that a busy machine gives
    the same motions; the time of judging is reported as ``timings["certification"]`` and not
    charged to them.

    Args:
        problem: Hands, bodies, tracks and goals.
        method: Settings of the method to use.
        seed: Random seed; the same seed gives the same result.
        throw: Raise ``NoSolutionError``, with the result attached, unless the method succeeds.
        on_progress: Called now and then with the ``Progress`` of the method, with every clip of the
            result as soon as it is certified, and with every motion that is refused.
        certify: Whether motions are judged. False is for research on methods: whatever the method
            finds is returned, without certificates, and its provenance says so.

    Returns:
        Clips, best first, each with its certificate and stamped with how it was made; and the
        outcome.
    """
    if not isinstance(method, Method):
        raise InvalidValueError(
            f"synthesize was given {method!r} as the method; expected an object such as "
            "ContactSampling() or Scripted()."
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidValueError(f"Seed is {seed!r}; expected a whole number of 0 or more.")
    start = time.perf_counter()
    stamp = provenance_of(problem, method, seed, is_certified=certify)
    judge = _Judge(problem, method, stamp) if certify else _Stamper(problem, stamp)
    result = drive(problem, method, seed=seed, judge=judge, watcher=on_progress)
    timings = {**result.timings, "total": time.perf_counter() - start}
    result = replace(result, timings=timings)
    if throw and not result.status.is_success:
        raise NoSolutionError(result)
    return result


@dataclass(frozen=True, slots=True)
class _Stamper:
    """Says how clips were made, and nothing of what they are worth."""

    problem: Problem
    stamp: Provenance

    def __call__(self, clip: Clip) -> Judged:
        # A clip answers the problem that was asked, whatever its method says.
        return Judged(replace(clip, problem=self.problem, provenance=self.stamp))


@dataclass(frozen=True, slots=True)
class _Judge:
    """Certificate and goals decide which clips are returned."""

    problem: Problem
    method: Method
    stamp: Provenance

    def __call__(self, clip: Clip) -> Judged:
        clip = replace(clip, problem=self.problem, provenance=self.stamp)
        certificate = make_certificate(clip, tolerances=self.method.tolerances(self.problem))
        missed = missed_goals(clip, self.method.goal_tolerances(self.problem))
        excess = touch_excess(clip)
        if excess > 0.0:
            missed.append(f"a hand touches a body for {excess:.3g} s outside its touch spans.")
        reasons = (*certificate.reasons, *((GOALS,) if missed else ()))
        detail = " ".join([*_faults(certificate), *missed[:1]])
        if certificate.reasons:
            clip = replace(clip, provenance=replace(self.stamp, is_certified=False))
        return Judged(clip, certificate, reasons, detail)


def _faults(certificate: Certificate) -> list[str]:
    """The first check of a certificate that fails, in a sentence."""
    for check in certificate.checks:
        if not check.passed:
            return [f"{check}."]
    return []
