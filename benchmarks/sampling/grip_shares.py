"""Measures of grips and of sliding, from the stored contacts of clips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handwright.core.clip import Clip
from handwright.core.contact import ContactMode

# Contacts that press with less than this share of the largest force of the clip say nothing.
_LEAST = 0.01


def near_share(clips: Sequence[Clip]) -> float | None:
    """Share of the normal force of hands that is not on last phalanges; None without force.

    That is palm, near and middle phalanges: what bears the load in a power grip.
    """
    near = total = 0.0
    for clip in clips:
        contacts = clip.contacts
        level = np.einsum("ni,ni->n", contacts.force, contacts.normal)
        for row, hand in enumerate(contacts.touchers):
            if hand not in clip.problem.hands:
                continue
            model = clip.problem.hands[hand]
            mine = np.flatnonzero(contacts.toucher == row)
            part = contacts.part[mine]
            digit = model.capsules.digit[part]
            last = np.array([one.pad.link for one in model.digits])
            is_last = (digit >= 0) & (model.capsules.link[part] == last[np.maximum(digit, 0)])
            near += float(level[mine][~is_last].sum())
            total += float(level[mine].sum())
    return near / total if total > 0.0 else None


def vertical_share(clips: Sequence[Clip]) -> float | None:
    """How upright hands slide, 0 to 1: mean of |cos| to gravity over loaded sliding contacts.

    Friction on a sliding contact is along the slip. None if nothing slides.
    """
    shares = []
    for clip in clips:
        contacts = clip.contacts
        hands = [row for row, name in enumerate(contacts.touchers) if name in clip.problem.hands]
        level = np.einsum("ni,ni->n", contacts.force, contacts.normal)
        across = contacts.force - level[:, None] * contacts.normal
        size = np.linalg.norm(across, axis=1)
        chosen = np.isin(contacts.toucher, hands) & (contacts.mode == int(ContactMode.SLIDING))
        chosen &= (level > _LEAST * level.max(initial=0.0)) & (size > 0.0)
        up = -clip.problem.gravity / np.linalg.norm(clip.problem.gravity)
        shares.append(np.abs(across[chosen] @ up) / size[chosen])
    every = np.concatenate([np.zeros(0), *shares])
    return float(every.mean()) if len(every) else None
