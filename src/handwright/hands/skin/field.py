"""The skin of a right hand as the zero surface of a smooth function of space."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Float

from handwright.hands.human.anthropometry import DIGITS
from handwright.hands.skin.form import HandForm
from handwright.hands.skin.parts import (
    Ellipsoid,
    Points,
    Section,
    Tube,
    Values,
    axes_of,
    smooth_min,
)

# Blend radii, m: how far before they meet two surfaces flow into each other.
_PALM_BLEND = 0.012
_THENAR_BLEND = 0.016
_WRIST_BLEND = 0.016
_ROOT_BLEND = 0.009
_THUMB_BLEND = 0.012
_WEB_BLEND = 0.012
# Neighbouring fingers must not grow together.
_NEIGHBOUR_BLEND = 0.003
_FOREARM = 0.042
# Half thickness of the palm on which the skin was judged, m; everything soft is scaled from there.
_USUAL_THICKNESS = 0.0142
# Sections of the flesh around the metacarpals, at shares of the bone's length: half breadth, dorsal
# and palmar depth, mm.
_METACARPAL_SHARES = (0.0, 0.4, 0.8, 1.0)
_METACARPALS = {
    "index": ((9, 7.4, 13), (9.5, 8.8, 13), (10.5, 8.8, 14.5), (10.4, 10.2, 12.0)),
    "middle": ((9, 7.4, 13), (9.5, 8.8, 13), (10.2, 8.4, 15.5), (10.4, 10.2, 12.4)),
    "ring": ((9, 7.4, 13), (9.5, 8.8, 12), (9.8, 8.2, 13.0), (9.8, 9.8, 10.6)),
    "little": ((8.5, 7.6, 13), (9.5, 8.8, 13), (9.8, 8.0, 13), (9.0, 8.6, 9.4)),
    "thumb": ((10, 9, 11), (10.5, 9, 11.5), (10.8, 8.8, 11), (10.8, 9, 10.8)),
}


class SkinField:
    """Signed distance (m, negative inside) to the skin of a hand at its bind pose."""

    def __init__(self, form: HandForm) -> None:
        """Models the parts of the hand on its bones."""
        self.form = form
        self.scale = form.thickness / _USUAL_THICKNESS
        self.digits = [self._digit(row) for row in range(len(DIGITS))]

    def distance(self, points: Points) -> Values:
        """Signed distance to the skin."""
        palm = self.palm_distance(points)
        thumb = smooth_min(palm, self.digits[0].distance(points), _THUMB_BLEND * self.scale)
        whole = thumb
        webbed = palm
        for web in self._webs:
            webbed = smooth_min(webbed, web.distance(points), _WEB_BLEND * self.scale)
        for tube in self.digits[1:]:
            finger = smooth_min(webbed, tube.distance(points), _ROOT_BLEND * self.scale)
            whole = smooth_min(whole, finger, _NEIGHBOUR_BLEND)
        return whole

    def value_and_gradient(self, points: Points) -> tuple[Values, Points]:
        """Distance and gradient, from the corners of a tiny tetrahedron around each point."""
        h = 1e-5
        corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
        values = self.distance((points[None] + h * corners[:, None]).reshape(-1, 3)).reshape(4, -1)
        return values.mean(axis=0), values.T @ corners / (4.0 * h)

    def normals(self, points: Points) -> Points:
        """Unit outward normals."""
        gradient = self.value_and_gradient(points)[1]
        return gradient / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-9)

    def project(self, points: Points, num_steps: int = 3) -> Points:
        """Nearby points of the skin, by Newton steps along the gradient."""
        for _ in range(num_steps):
            value, gradient = self.value_and_gradient(points)
            squared = np.maximum(np.einsum("ij,ij->i", gradient, gradient), 0.05)
            move = (value / squared)[:, None] * gradient
            length = np.linalg.norm(move, axis=1, keepdims=True)
            points = points - move * np.minimum(1.0, 0.003 / np.maximum(length, 1e-12))
        return points

    def bounds(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Corners of a box that holds the skin, m."""
        form = self.form
        length = np.array([profile.length for profile in form.shape.digits])[:, None]
        tips = form.knuckle + length * form.direction
        reach = np.concatenate([form.base, form.knuckle, tips])
        margin = 2.2 * form.thickness
        low, high = reach.min(axis=0) - margin, reach.max(axis=0) + margin
        low[0] = -(_FOREARM + 0.006) * self.scale
        breadth = form.shape.wrist_half_breadth + 0.5 * form.thickness
        low[1], high[1] = min(low[1], -breadth), max(high[1], breadth)
        return low, high

    def palm_distance(self, points: Points) -> Values:
        """Signed distance to the palm, wrist and thumb base, without digits and finger webs."""
        palm = self._core.distance(points)
        for part in self._metacarpals:
            palm = smooth_min(palm, part.distance(points), _PALM_BLEND * self.scale)
        for muscle in self._muscles:
            palm = smooth_min(palm, muscle.distance(points), _THENAR_BLEND * self.scale)
        return smooth_min(palm, self._forearm.distance(points), _WRIST_BLEND * self.scale)

    def _digit(self, row: int) -> Tube:
        """A digit, with a flat back under the nail."""
        form, profile = self.form, self.form.shape.digits[row]
        last = float(form.phalanges[row].sum())
        places = np.array([0.0, 0.6 * last, last, float(profile.along[-1])])
        squares = np.interp(profile.along, places, [2.15, 2.15, 2.25, 2.6])
        shape = profile.along, profile.half_breadth, profile.dorsal, profile.palmar, squares
        sections = [
            Section(at, breadth, dorsal, palmar, back=square)
            for at, breadth, dorsal, palmar, square in zip(*shape, strict=True)
        ]
        start = 1.9 * float(profile.half_breadth[0])
        cap = profile.length - float(profile.along[-1])
        return Tube(form.knuckle[row], form.direction[row], form.dorsal[row], sections, start, cap)

    @cached_property
    def _metacarpals(self) -> list[Tube]:
        """Bones of the palm in their flesh, fingers first: the thumb's is apart."""
        form, u = self.form, self.scale * 1e-3
        tubes = []
        for digit, table in _METACARPALS.items():
            row = DIGITS.index(digit)
            bone = form.metacarpal[row]
            length = float(np.linalg.norm(bone))
            sections = [
                Section(share * length, *(part * u for part in parts))
                for share, parts in zip(_METACARPAL_SHARES, table, strict=True)
            ]
            tubes.append(Tube(form.base[row], bone, form.dorsal[row], sections, 26 * u, 12 * u))
        return tubes

    @cached_property
    def _core(self) -> Tube:
        """The flat middle of the palm, which fills the furrows between the metacarpals."""
        form, u = self.form, self.scale * 1e-3
        sections = []
        length = float(np.linalg.norm(form.metacarpal[2]))
        axes = axes_of(form.metacarpal[2], form.dorsal[2])
        for share, wide, dorsal, palmar in (
            (0.0, 9.5, 6.6, 14.5),
            (0.4, 9.0, 8.0, 12.5),
            (0.78, 8.0, 7.5, 13.5),
        ):
            edges = [
                axes @ (form.base[row] + share * form.metacarpal[row] - form.base[2])
                for row in (1, 4)
            ]
            middle = 0.5 * (edges[0] + edges[1])
            half = 0.5 * abs(edges[0][1] - edges[1][1]) + wide * u
            side, lift = float(middle[1]), 0.3 * float(middle[2])
            sections.append(
                Section(share * length, half, dorsal * u, palmar * u, side, lift, 2.8, 2.8)
            )
        return Tube(form.base[2], axes[0], axes[2], sections, 28 * u, 16 * u)

    @cached_property
    def _muscles(self) -> list[Ellipsoid | Tube]:
        form, u = self.form, self.scale * 1e-3
        z = np.array([0.0, 0.0, 1.0])
        thumb, index, little = form.metacarpal[0], form.metacarpal[1], form.metacarpal[4]
        inward = -form.dorsal[0]
        thenar = Ellipsoid(
            form.base[0] + 0.46 * thumb + 10 * u * inward - 1 * u * z,
            thumb - 6 * u * inward,
            z,
            (29 * u, 15 * u, 13.5 * u),
        )
        hypothenar = Ellipsoid(
            form.base[4] + 0.30 * little + np.array([0.0, -3.0, -9.5]) * u,
            little,
            z,
            (33 * u, 13.5 * u, 14 * u),
        )
        # The sheet of skin and muscle between thumb and index finger.
        start = form.base[0] + 0.62 * thumb
        end = form.base[1] + 0.52 * index
        across = end - start
        span = float(np.linalg.norm(across))
        outward = form.direction[0] + form.direction[1]
        flat = np.cross(outward, across)
        sections = [
            Section(0.0, 17 * u, 7 * u, 7 * u),
            Section(0.5 * span, 14 * u, 6 * u, 6 * u),
            Section(span, 17 * u, 7 * u, 7 * u),
        ]
        dorsal = flat if flat @ form.dorsal[1] > 0 else -flat
        return [thenar, hypothenar, Tube(start, across, dorsal, sections, 6 * u, 6 * u)]

    @cached_property
    def _forearm(self) -> Tube:
        x, _, z = np.eye(3)
        u = self.scale * 1e-3
        return Tube(np.zeros(3), x, z, wrist_sections(self.form), 8 * u, 24 * u)

    @cached_property
    def _webs(self) -> list[Tube]:
        """Skin between the roots of neighbouring fingers, lower towards the palm."""
        form = self.form
        webs = []
        for row in range(1, 4):
            breadths = [form.shape.digits[r].half_breadth[0] for r in (row, row + 1)]
            u = float(np.mean(breadths)) / 11.0
            start, end = (
                form.knuckle[r] + 0.23 * form.phalanges[r, 0] * form.direction[r]
                for r in (row, row + 1)
            )
            forward = form.direction[row] + form.direction[row + 1]
            up = form.dorsal[row] + form.dorsal[row + 1]
            across = end - start
            span = float(np.linalg.norm(across))
            forward = forward / np.linalg.norm(forward)
            up = up / np.linalg.norm(up)
            # The section leans, so that the web reaches further on the palm side.
            lean = np.cos(0.5) * up + np.sin(0.5) * forward
            sections = [
                Section(0.0, 10.0 * u, 6.5 * u, 6.0 * u),
                Section(0.5 * span, 8.3 * u, 5.8 * u, 5.6 * u),
                Section(span, 10.0 * u, 6.5 * u, 6.0 * u),
            ]
            webs.append(Tube(start - 1.8 * u * up, across, lean, sections, 3.0 * u, 3.0 * u))
        return webs


def wrist_sections(form: HandForm) -> list[Section]:
    """Cross-sections of the wrist along x, m: places before the wrist are negative."""
    u = form.thickness / _USUAL_THICKNESS * 1e-3
    breadth, depth = form.shape.wrist_half_breadth, form.shape.wrist_half_depth
    rows = (
        (-34.0, 1.03, 0.98, 1.00),
        (-18.0, 0.97, 0.94, 0.97),
        (-2.0, 0.94, 0.91, 0.96),
        (12.0, 0.93, 0.84, 0.92),
        (26.0, 0.88, 0.72, 0.80),
    )
    # The middle of the wrist lies a little to the palm.
    return [
        Section(at * u, wide * breadth, back * depth, front * depth, lift=-4.5 * u)
        for at, wide, back, front in rows
    ]
