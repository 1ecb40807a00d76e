"""Adding residuals and their slopes to the normal equations of one sample."""

from __future__ import annotations

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Room


@kernel
def add_rows(room: Room, num_rows: int, num_columns: int) -> None:
    """Adds rows x columns of slopes, for the columns listed in ascending order."""
    rows, residual, columns = room.rows, room.residual, room.columns
    for i in range(num_columns):
        ci = columns[i]
        total = 0.0
        for r in range(num_rows):
            total += rows[r, i] * residual[r]
        room.slope[ci] += total
    # Row by row, so that the innermost loop runs along memory.
    for r in range(num_rows):
        for i in range(num_columns):
            value = rows[r, i]
            if value != 0.0:
                ci = columns[i]
                for k in range(i + 1):
                    room.square[ci, columns[k]] += value * rows[r, k]


@kernel
def add_dense(room: Room, num_rows: int, num_coordinates: int) -> None:
    """Adds the first rows of ``room.dense`` with their residuals, and clears them."""
    count = 0
    for i in range(num_coordinates):
        is_touched = False
        for r in range(num_rows):
            is_touched = is_touched or room.dense[r, i] != 0.0
        if is_touched:
            for r in range(num_rows):
                room.rows[r, count] = room.dense[r, i]
                room.dense[r, i] = 0.0
            room.columns[count] = i
            count += 1
    add_rows(room, num_rows, count)


@kernel
def add_single(room: Room, column: int, slope: float, residual: float) -> None:
    """Adds one residual that depends on one variable."""
    room.square[column, column] += slope * slope
    room.slope[column] += slope * residual
