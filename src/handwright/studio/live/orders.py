"""Which orders of a page are for what; all that is stepped live also takes the common ones."""

from __future__ import annotations

from handwright.errors import InvalidValueError

SCENES, FINGERS, ARMS = "scenes that are simulated", "learned fingers", "arms that throw"
_ORDERS = {
    SCENES: ("push", "release"),
    FINGERS: ("move", "take", "let_go", "swap", "record"),
    ARMS: ("aim", "record"),
}
_COMMON = "pause, resume, reset and save"


def misdirected(kind: str, given: str) -> InvalidValueError:
    """What to say of an order that is not for what it was given to.

    Args:
        kind: Of the order.
        given: ``SCENES``, ``FINGERS`` or ``ARMS``.
    """
    owners = " and ".join(name for name, orders in _ORDERS.items() if kind in orders)
    return InvalidValueError(
        f"'{kind}' is for {owners}; {given} take {', '.join(_ORDERS[given])}, {_COMMON}."
    )
