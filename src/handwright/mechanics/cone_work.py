"""Memory of the interior-point method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class ConeWork(NamedTuple):
    """Memory of ``solve_cones`` for up to so many contacts N.

    The program has three kinds of blocks: N cones, the residual (``slack_``), and up to N scalars
    for what is left to the caps (``cap_``). Each has values x, duals z, their steps, the scaling
    (w, eta), the scaled point, the scaled steps a and b, and the right sides.
    """

    force: Float[np.ndarray, "N 3"]
    """Result: forces on the body, N, world axes."""
    residual: Float[np.ndarray, "6"]
    """Result: wrench wanted minus wrench of the forces, N and N m."""
    columns: np.ndarray
    rooted: np.ndarray
    root: np.ndarray
    share: np.ndarray
    price: np.ndarray
    cap: np.ndarray
    x: np.ndarray
    z: np.ndarray
    dx: np.ndarray
    dz: np.ndarray
    w: np.ndarray
    eta: np.ndarray
    middle: np.ndarray
    a: np.ndarray
    b: np.ndarray
    right: np.ndarray
    slack_x: np.ndarray
    slack_z: np.ndarray
    slack_dx: np.ndarray
    slack_dz: np.ndarray
    slack_w: np.ndarray
    slack_eta: np.ndarray
    slack_middle: np.ndarray
    slack_a: np.ndarray
    slack_b: np.ndarray
    slack_right: np.ndarray
    slack_turn: np.ndarray
    cap_x: np.ndarray
    cap_z: np.ndarray
    cap_dx: np.ndarray
    cap_dz: np.ndarray
    cap_eta: np.ndarray
    cap_middle: np.ndarray
    cap_a: np.ndarray
    cap_b: np.ndarray
    cap_right: np.ndarray
    normal_matrix: np.ndarray
    wanted: np.ndarray
    missing: np.ndarray
    dy: np.ndarray


def make_cone_work(capacity: int) -> ConeWork:
    """Memory for problems of up to ``capacity`` contacts."""
    tables = ("x", "z", "dx", "dz", "middle", "a", "b", "right")
    arrays = {name: np.zeros((capacity, 3)) for name in (*tables, "w")}
    arrays |= {f"slack_{name}": np.zeros((1, 7)) for name in (*tables, "w", "turn")}
    arrays |= {f"cap_{name}": np.zeros((capacity, 1)) for name in tables}
    return ConeWork(
        force=np.zeros((capacity, 3)),
        residual=np.zeros(6),
        columns=np.zeros((capacity, 3, 6)),
        rooted=np.zeros((capacity, 3, 6)),
        root=np.zeros((capacity, 3, 3)),
        share=np.zeros((capacity, 4)),
        price=np.zeros(capacity),
        cap=np.zeros(capacity),
        eta=np.zeros(capacity),
        slack_eta=np.zeros(1),
        cap_eta=np.zeros(capacity),
        normal_matrix=np.zeros((6, 6)),
        wanted=np.zeros(6),
        missing=np.zeros(6),
        dy=np.zeros(6),
        **arrays,
    )
