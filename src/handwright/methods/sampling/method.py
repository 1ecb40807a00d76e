"""The method: contact sampling for given wrist and body tracks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from handwright.conditioning import Conditioning
from handwright.core.clip import Clip, GuideHand, KeptDigit
from handwright.core.problem import Problem
from handwright.core.settings import check_settings, data_field, setting
from handwright.core.tolerances import Tolerances
from handwright.deprecated import renamed_fields
from handwright.methods.about import Paper
from handwright.methods.base import (
    Method,
    advice_on_goals,
    num_workers_setting,
    time_budget_setting,
    untracked,
)
from handwright.methods.sampling.constraints.apply import check_names
from handwright.methods.sampling.constraints.guide import check_guide, guide_hands
from handwright.methods.sampling.constraints.preferences import (
    RELOCATION_TIME,
    FixedJoint,
    ForbiddenBall,
    GraspRegion,
    Grip,
    Hold,
    NoContact,
    Pin,
    Preference,
    Strategy,
)
from handwright.methods.sampling.constraints.schedule import kept_parts
from handwright.methods.sampling.contact_search import ContactSearch
from handwright.methods.tracks import conditioning_setting, corrected_setting, on_tracks

_MIN_FRAMES = 4
_PAPER = Paper(
    key="YeLiu2012",
    authors=("Yuting Ye", "C. Karen Liu"),
    title="Synthesis of Detailed Hand Manipulations Using Contact Sampling",
    venue="ACM Transactions on Graphics",
    year=2012,
    doi="10.1145/2185520.2185537",
    details=(("volume", "31"), ("number", "4"), ("articleno", "41")),
)


@renamed_fields
@dataclass(frozen=True, slots=True)
class ContactSampling(Method):
    """Finger motions for given tracks of wrists and bodies, by Ye & Liu 2012."""

    name: ClassVar[str] = "sampling"

    title: ClassVar[str] = "Contact sampling"
    suited_to: ClassVar[str] = "Tracks of all wrists and bodies are given; the fingers are wanted."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    num_solutions: int = setting(
        10, at_least=1, label="Motions", basic=True, help="How many different motions to look for."
    )
    time_budget: float = time_budget_setting()
    window: int = setting(
        10,
        unit="frames",
        at_least=1,
        label="Time between changes",
        help="Expected number of frames for which digits keep a strategy (epsilon of the paper).",
    )
    strategy: Strategy = setting(
        "mixed",
        basic=True,
        help="What digits do where the forces leave a choice: hold, slide, or move elsewhere.",
    )
    preferences: tuple[Preference, ...] = setting(
        (), help="Strategies for single digits or spans of time; later ones win."
    )
    no_contact: tuple[NoContact, ...] = setting(
        (),
        was="keep_off",
        from_words=lambda digits: (NoContact(digits),),
        words="DIGIT",
        help="Digits that must not press on bodies, as in: little ring, or left.little.",
    )
    forbidden: tuple[ForbiddenBall, ...] = setting(
        (), help="Regions of bodies that digits must not touch."
    )
    fixed_joints: tuple[FixedJoint, ...] = setting(
        (), help="Joints that keep an angle over some time."
    )
    pins: tuple[Pin, ...] = setting((), help="Points that digits must touch.")
    grip: Grip = setting(
        "any",
        basic=True,
        help="With palm, near phalanges and all fingers (power), or with few fingertips "
        "(precision).",
    )
    grasp_region: Hold = setting(
        "anywhere",
        was="hold",
        label="Held by",
        basic=True,
        help="Where bodies are held: by the handle, from outside, or from inside, which is with "
        "thumb or fingers in the hollow, whichever reach into it, and the others across the wall "
        "or inside too.",
    )
    grasp_regions: tuple[GraspRegion, ...] = setting(
        (),
        was="held_by",
        help="Where single digits hold, or single bodies are held, with regions of one's own; "
        "goes before grasp_region.",
    )
    kept: tuple[KeptDigit, ...] = data_field(())
    """Parts of a motion that stay as they are; see ``keeping``."""
    guide: tuple[GuideHand, ...] = data_field(())
    """A motion that hands stay near to; see ``guided_by``."""
    idle_finger_probability: float = setting(
        0.15,
        was="leave_free",
        at_least=0.0,
        at_most=1.0,
        label="Chance of an idle finger",
        help="Probability that a finger takes no part in the first grasp.",
    )
    comfort: float = setting(
        2.0,
        at_least=0.0,
        help="Weight of relaxed postures when digits choose where to touch; 0 for none.",
    )
    idle_force_weight: float = setting(
        1.0,
        was="idle_force_price",
        at_least=0.0,
        label="Weight of idle fingers' force",
        help="Weight of the force of digits that carried none, relative to the others; above 1 "
        "idle digits stay idle and relocate more.",
    )
    max_force: float = setting(
        8.0,
        unit="weights",
        above=0.0,
        label="Largest force",
        help="Largest sum of the normal forces of all hands, in weights of the body; 25 N are "
        "always allowed.",
    )
    finger_speed: float = setting(
        9.0, unit="rad/s", above=0.0, label="Fastest joint", help="Largest joint speed."
    )
    relocation_time: float = setting(
        RELOCATION_TIME,
        unit="s",
        at_least=0.02,
        at_most=2.0,
        help="Least time from lift-off to landing of a digit that moves to another position. "
        "Hands that turn bodies quickly need less.",
    )
    friction_margin: float = setting(
        0.95,
        above=0.0,
        at_most=1.0,
        label="Share of friction used",
        help="Share of the friction that plans may use.",
    )
    soft_tissue: float = setting(
        0.0,
        unit="m",
        at_least=0.0,
        at_most=0.02,
        help="Depth to which pads may sink in beyond the certificate's limit; for recorded tracks.",
    )
    skin_stretch: float = setting(
        0.0,
        was="skin_shear",
        unit="m",
        at_least=0.0,
        at_most=0.01,
        help="Tangential stretch of the skin before a contact counts as sliding; for recorded "
        "tracks.",
    )
    treat_as_solid: bool = setting(
        False,
        was="fills_hollows",
        label="Hollows count as solid",
        help="Whether mugs, cups and the like are held from outside only, as if they were solid. "
        "Otherwise fingers that may sink in by as much as a wall is thick come out inside.",
    )
    smoothing_hz: float | None = setting(
        None,
        unit="Hz",
        above=0.0,
        label="Smoothing",
        help="Cut-off of a low-pass for the accelerations of noisy body tracks; 8 Hz suits motion "
        "capture.",
    )
    corrected: bool = corrected_setting()
    conditioning: Conditioning | None = conditioning_setting()
    max_frames: int = setting(
        3000,
        unit="frames",
        at_least=1,
        label="Frames of an attempt",
        help="Frames explored by one attempt before it is given up.",
    )
    baseline: bool = setting(
        False,
        label="Plain search of the paper",
        help="The plain search of the paper's section 4, for comparison: windows of one frame, "
        "blind backtracking, no look-ahead.",
    )
    num_workers: int = num_workers_setting()

    def __post_init__(self) -> None:
        check_settings(self)

    def keeping(
        self,
        clip: Clip,
        digits: Sequence[str] = (),
        start: float | None = None,
        end: float | None = None,
    ) -> ContactSampling:
        """The same settings, with a part of a solution kept while the rest is solved anew.

        Args:
            clip: A solution of the same problem, which may have been edited since.
            digits: Digits that are kept, such as ``index`` or ``left.index``; all if empty.
            start: First time that is kept, s; from the first frame on if None.
            end: Last time that is kept, s; to the last frame if None.
        """
        return replace(self, kept=(*self.kept, *kept_parts(clip, digits, start, end)))

    def guided_by(self, clip: Clip, weight: float = 1.0) -> ContactSampling:
        """The same settings, with a motion that hands stay near to where physics lets them.

        Digits prefer to touch when and where those of the guide do, and tend to its postures. It
        forbids nothing: what is returned is as certified as without it, and a bad guide costs time.

        Args:
            clip: A motion of the same hands on the same tracks, at any frame rate: recorded, from
                a network, or another solution. Its contacts are found by distance, and need not
                hold.
            weight: How much it counts, above 0. With more, places are kept to more closely.
        """
        return replace(self, guide=guide_hands(clip, weight))

    @classmethod
    def suits(cls, problem: Problem) -> float:
        """Problems in which everything follows a track, or of which nothing else is known."""
        return 0.5 if not untracked(problem) else 0.1

    def tolerances(self, problem: Problem) -> Tolerances:
        """Noisy tracks are judged by what these settings say of the noise and of the skin."""
        del problem
        return Tolerances(
            soft_tissue=self.soft_tissue,
            skin_stretch=self.skin_stretch,
            smoothing_hz=self.smoothing_hz,
        )

    def lacks(self, problem: Problem) -> str:
        """Needs tracks for all hands and bodies."""
        missing = untracked(problem)
        if missing or not problem.hands or len(problem.times) < _MIN_FRAMES:
            lacks = [f"a track of '{name}'" for name in missing]
            lacks += [] if problem.hands else ["a hand"]
            lacks += [] if len(problem.times) >= _MIN_FRAMES else [f"{_MIN_FRAMES} frames or more"]
            needs = f"Contact sampling needs {', '.join(lacks)}. Add it."
            return needs + advice_on_goals(problem)
        limit = 0.5 / float(np.diff(problem.times).mean())
        if self.smoothing_hz is not None and self.smoothing_hz >= limit:
            return (
                f"smoothing_hz is {self.smoothing_hz:g}; expected below {limit:g} Hz, half the "
                "frame rate of the problem. Lower it (8 Hz suits motion capture) or leave it out."
            )
        check_names(problem, self)
        check_guide(problem, self)
        return ""

    def search(self, problem: Problem) -> ContactSearch:
        """Attempts that each grow a tree of contacts for every hold."""
        return ContactSearch(on_tracks(problem, self.corrected, self.conditioning), self)
