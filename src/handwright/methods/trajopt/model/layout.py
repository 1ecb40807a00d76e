"""Where each variable is within a key state.

A key state holds, in this order,

    Q coordinates (those of all hands, then six of the body), their Q rates,
    3 N forces and 3 N force origins of the N contacts,
    3 N changes of the forces for each push (``terms/push.py``),
    one shift of the key's time (``terms/time.py``), and N contact variables.

The state at a moment between two keys has the same layout, followed by the accelerations of the
body's six coordinates. The six are three of position and three angles of hinges.
"""

from __future__ import annotations

from typing import NamedTuple

from handwright.kernels.decorators import kernel

BODY = 6
"""Coordinates of the body, the last of all: three of position, then three hinge angles."""


class KeyLayout(NamedTuple):
    """First index of each block of a key state.

    Compiled functions read the indices; Python also has the blocks as slices.
    """

    num_coordinates: int
    num_contacts: int
    first_body: int
    """Coordinates of the body: position."""
    first_hinge: int
    first_rate: int
    """Rates of all coordinates."""
    first_body_rate: int
    first_hinge_rate: int
    first_force: int
    first_origin: int
    first_change: int
    """Changes of the forces, push by push."""
    shift: int
    """Shift of the key's time, s."""
    first_contact: int
    """Contact variables."""
    size: int
    """Number of variables of a key state."""
    first_acceleration: int
    """Accelerations of the body's coordinates; only in the state at a moment."""
    first_hinge_acceleration: int
    state_size: int
    """Number of entries of the state at a moment."""

    @property
    def coordinates(self) -> slice:
        """Coordinates of hands and body."""
        return slice(0, self.num_coordinates)

    @property
    def rates(self) -> slice:
        """Rates of all coordinates."""
        return slice(self.first_rate, self.first_force)

    @property
    def motion(self) -> slice:
        """Coordinates and their rates."""
        return slice(0, self.first_force)

    @property
    def body(self) -> slice:
        """The six coordinates of the body."""
        return slice(self.first_body, self.num_coordinates)

    @property
    def body_position(self) -> slice:
        """Position of the body's centre of mass."""
        return slice(self.first_body, self.first_hinge)

    @property
    def hinges(self) -> slice:
        """Hinge angles of the body."""
        return slice(self.first_hinge, self.num_coordinates)

    @property
    def body_rates(self) -> slice:
        """Rates of the body's six coordinates."""
        return slice(self.first_body_rate, self.first_force)

    @property
    def body_velocity(self) -> slice:
        """Velocity of the body's centre of mass."""
        return slice(self.first_body_rate, self.first_hinge_rate)

    @property
    def forces(self) -> slice:
        """Forces of all contacts."""
        return slice(self.first_force, self.first_origin)

    @property
    def origins(self) -> slice:
        """Origins of all forces, in the body's frame."""
        return slice(self.first_origin, self.first_change)

    @property
    def changes(self) -> slice:
        """Changes of all forces under all pushes."""
        return slice(self.first_change, self.shift)

    @property
    def contacts(self) -> slice:
        """Contact variables."""
        return slice(self.first_contact, self.size)

    def force(self, contact: int) -> slice:
        """Force of one contact."""
        first = self.first_force + 3 * contact
        return slice(first, first + 3)

    def origin(self, contact: int) -> slice:
        """Origin of the force of one contact."""
        first = self.first_origin + 3 * contact
        return slice(first, first + 3)


def key_layout(num_coordinates: int, num_contacts: int, num_pushes: int) -> KeyLayout:
    """The layout for these numbers of coordinates (of hands and body), contacts and pushes."""
    nq, nc = num_coordinates, num_contacts
    first_force = 2 * nq
    first_origin = first_force + 3 * nc
    first_change = first_origin + 3 * nc
    shift = first_change + 3 * nc * num_pushes
    first_contact = shift + 1
    size = first_contact + nc
    return KeyLayout(
        num_coordinates=nq,
        num_contacts=nc,
        first_body=nq - BODY,
        first_hinge=nq - 3,
        first_rate=nq,
        first_body_rate=2 * nq - BODY,
        first_hinge_rate=2 * nq - 3,
        first_force=first_force,
        first_origin=first_origin,
        first_change=first_change,
        shift=shift,
        first_contact=first_contact,
        size=size,
        first_acceleration=size,
        first_hinge_acceleration=size + 3,
        state_size=size + BODY,
    )


@kernel
def force_index(layout: KeyLayout, contact: int) -> int:
    """First of the three indices of a contact's force."""
    return layout.first_force + 3 * contact


@kernel
def origin_index(layout: KeyLayout, contact: int) -> int:
    """First of the three indices of the origin of a contact's force."""
    return layout.first_origin + 3 * contact


@kernel
def change_index(layout: KeyLayout, push: int, contact: int) -> int:
    """First of the three indices of how a contact's force changes under a push."""
    return layout.first_change + 3 * (push * layout.num_contacts + contact)


@kernel
def acceleration_index(layout: KeyLayout, coordinate: int) -> int:
    """Index of the acceleration of a coordinate of the body."""
    return layout.first_acceleration + coordinate - layout.first_body
