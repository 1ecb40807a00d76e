"""The skin of a human hand: built from its bones, kept on disk."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.errors import HandwrightError, InvalidValueError
from handwright.geometry.cache import load_or_build
from handwright.hands.mirror import mirror
from handwright.hands.skin.field import SkinField
from handwright.hands.skin.form import HandForm, bind_values, form_of_model
from handwright.hands.skin.mesh import mesh_of
from handwright.hands.skin.nails import add_nails
from handwright.hands.skin.weights import PARTS, full_weights, strongest_four

# Part of the cache key: raise it with every change of the modelling code.
_VERSION = 8
# Grid step and edge length scale with the hand, so that every hand has about as many triangles.
_SPACING_PER_THICKNESS = 0.134
_NUM_FACES = 20_000
FLIP = np.array([1.0, -1.0, 1.0])
"""From a right hand to a left one."""


@lru_cache(maxsize=8)
def skin_of(model: HandModel) -> Skin:
    """The skin of a human hand.

    The first call for a hand takes some seconds; the result is kept on disk.

    Args:
        model: A hand made by ``human``, with or without an arm, right or left.
    """
    if model.skin is None or model.side not in ("right", "left"):
        raise InvalidValueError(
            f"Hand '{model.name}' has no skin; expected one made by human(). "
            "Draw its collision capsules instead."
        )
    right = model if model.side == "right" else mirror(model)
    form = form_of_model(right)
    arrays = load_or_build(f"skin-{_VERSION}-{form.digest()[:40]}", lambda: _build(form))
    link = np.array(
        [model.wrist_link if name is None else model.joints.index(name) + 1 for name in PARTS]
    )
    vertices, faces = arrays["vertices"], arrays["faces"]
    if model.side == "left":
        vertices, faces = vertices * FLIP, faces[:, ::-1]
    return Skin(
        vertices=vertices,
        faces=faces,
        links=link[arrays["parts"]],
        weights=arrays["weights"],
        is_nail=arrays["is_nail"],
        bind=bind_values(model.joints),
    )


def _build(form: HandForm) -> dict[str, np.ndarray]:
    try:
        return _modelled(form)
    except HandwrightError:
        raise
    except (ValueError, IndexError, ArithmeticError, RuntimeError, MemoryError) as error:
        # Bones and girths that are no hand's can trip any step of the modelling.
        raise InvalidValueError(
            f"The skin of this hand cannot be modelled ({error or type(error).__name__}); check "
            "its bones and girths."
        ) from error


def _modelled(form: HandForm) -> dict[str, np.ndarray]:
    field = SkinField(form)
    vertices, faces = mesh_of(field, _SPACING_PER_THICKNESS * form.thickness, _NUM_FACES)
    vertices, faces, is_nail = add_nails(field, vertices, faces)
    parts, weights = strongest_four(full_weights(field, vertices, faces))
    return {
        "vertices": vertices,
        "faces": faces.astype(np.int64),
        "parts": parts.astype(np.int64),
        "weights": weights,
        "is_nail": is_nail,
    }
