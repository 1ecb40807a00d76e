"""Adding residuals and their gradients to the normal equations of one sample."""

from __future__ import annotations

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.workspace import SampleWorkspace


@kernel
def add_rows(work: SampleWorkspace, num_rows: int, num_columns: int) -> None:
    """Adds a block of residuals by its Jacobian; ``work.columns`` must be in ascending order."""
    rows, residual, columns = work.jacobian, work.residual, work.columns
    for i in range(num_columns):
        ci = columns[i]
        total = 0.0
        for r in range(num_rows):
            total += rows[r, i] * residual[r]
        work.gradient[ci] += total
    # Row by row, so that the innermost loop runs along memory.
    for r in range(num_rows):
        for i in range(num_columns):
            value = rows[r, i]
            if value != 0.0:
                ci = columns[i]
                for k in range(i + 1):
                    work.hessian[ci, columns[k]] += value * rows[r, k]


@kernel
def add_dense(work: SampleWorkspace, num_rows: int, num_coordinates: int) -> None:
    """Adds the first rows of ``work.dense`` with their residuals, then clears these rows."""
    count = 0
    for i in range(num_coordinates):
        is_touched = False
        for r in range(num_rows):
            is_touched = is_touched or work.dense[r, i] != 0.0
        if is_touched:
            for r in range(num_rows):
                work.jacobian[r, count] = work.dense[r, i]
                work.dense[r, i] = 0.0
            work.columns[count] = i
            count += 1
    add_rows(work, num_rows, count)


@kernel
def add_single(work: SampleWorkspace, column: int, derivative: float, residual: float) -> None:
    """Adds one residual that depends on one variable."""
    work.hessian[column, column] += derivative * derivative
    work.gradient[column] += derivative * residual
