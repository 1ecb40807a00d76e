"""Many arrays as one record: compiled functions then take one pointer instead of a long list.

Numba hands every array over as half a dozen numbers. A tuple of fifty arrays that goes through
ten functions takes minutes to compile; a record with the same field names takes seconds, and
kernels written for the tuple take it as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def as_record(arrays: Any) -> Any:  # noqa: ANN401  a record stands in for any tuple of arrays
    """A record with the fields, and copies of the values, of a tuple of arrays.

    Shapes are part of a record's type: code is compiled anew for other shapes, so use this for
    memory of a fixed size only.
    """
    fields: dict[str, np.ndarray] = arrays._asdict()
    # Numba takes no truth values in records; small numbers do the same.
    layout = np.dtype(
        [
            (name, np.uint8 if value.dtype == np.bool_ else value.dtype, value.shape)
            for name, value in fields.items()
        ]
    )
    table = np.zeros(1, dtype=layout).view(np.recarray)
    for name, value in fields.items():
        table[name][0] = value
    return table[0]
