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
    aim = _aim_from_home(machine, box, half)
    if aim is None:
        return False
    machine.throw(aim.throw)
    if not box.is_still:
        # The hand takes what it catches to where the next throw is easy.
        later = aim_at_box(machine, box, half, start=machine.simulation.time + _LOOP)
        machine.home = machine.home if later is None else later.home
    machine.run()
    return machine.has_caught


def _aim_from_home(machine: Machine, box: BoxPath, half: float) -> BoxAim | None:
    aim = aim_at_box(machine, box, half, start=machine.simulation.time, home=machine.home)
    if aim is not None:
        return aim
    aim = aim_at_box(machine, box, half, start=machine.simulation.time + _MOVING)
    if aim is None:
        return None
    machine.move_home(aim.home)
    machine.run()
    return aim_at_box(machine, box, half, start=machine.simulation.time, home=aim.home)
