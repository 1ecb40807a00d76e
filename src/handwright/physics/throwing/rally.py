"""Hits and catches in a row, at a box that may move."""

from __future__ import annotations

from handwright.physics.throwing.aiming import BoxAim, aim_at_box
from handwright.physics.throwing.machine import Machine
from handwright.physics.throwing.targets import BoxPath

# How long it takes to carry the thing to another home, and from throw to throw, s.
_MOVING, _LOOP = 0.62, 1.4


def begin_rally(machine: Machine, box: BoxPath, half: float) -> bool:
    """Puts the box up, and the thing into the hand; returns whether there is a throw at it.

    Args:
        machine: That throws.
        box: Where the box is when.
        half: From its centre to the face that is hit, m.
    """
    machine.simulation.place_box(box)
    machine.waits_for_box = True
    aim = aim_at_box(machine, box, half, start=machine.simulation.time)
    if aim is None:
        return False
    machine.home = aim.home
    machine.take()
    machine.run()
    return True


def hit(machine: Machine, box: BoxPath, half: float) -> bool:
    """Throws at the box, from where the hand is if it can; returns whether it hit and caught.

    Args:
        machine: That throws; ready.
        box: Where the box is when.
        half: From its centre to the face that is hit, m.
    """
    aim = aim_from_hand(machine, box, half)
    if aim is None:
        later = aim_from_elsewhere(machine, box, half)
        if later is None:
            return False
        machine.move_home(later.home)
        machine.run()
        aim = aim_from_hand(machine, box, half)
    if aim is None:
        return False
    machine.throw(aim.throw)
    if not box.is_still:
        # The hand takes what it catches to where the next throw is easy.
        later = aim_at_box(machine, box, half, start=machine.simulation.time + _LOOP)
        machine.home = machine.home if later is None else later.home
    machine.run()
    return machine.has_caught


def aim_from_hand(machine: Machine, box: BoxPath, half: float) -> BoxAim | None:
    """A throw at the box from where the hand is, or None.

    Args:
        machine: That throws; ready.
        box: Where the box is when.
        half: From its centre to the face that is hit, m.
    """
    return aim_at_box(machine, box, half, start=machine.simulation.time, home=machine.home)


def aim_from_elsewhere(machine: Machine, box: BoxPath, half: float) -> BoxAim | None:
    """The same from where it suits best, which the hand goes to first, or None."""
    return aim_at_box(machine, box, half, start=machine.simulation.time + _MOVING)
