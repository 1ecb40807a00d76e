"""Named tuples behind one pointer: how numba types them, takes them over and reads their fields.

This is what ``packed`` is made of. It rests on parts of numba that are not public.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, typeof_impl, unbox

_WORD = ir.IntType(64)


class PackedType(types.Type):
    """Numba's type of a packed tuple: names, types and places of its fields."""

    def __init__(self, title: str, fields: tuple[tuple[str, types.Type, int], ...]) -> None:
        self.fields = fields
        text = ";".join(f"{name}:{kind}:{place}" for name, kind, place in fields)
        # The whole text would be part of the name of every function that takes the tuple.
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        super().__init__(name=f"Packed({title},{digest})")

    def find(self, name: str) -> tuple[types.Type, int] | None:
        """Type and place of a field."""
        for known, kind, place in self.fields:
            if known == name:
                return kind, place
        return None


class Packed:
    """A named tuple for compiled functions.

    Fields may be arrays, numbers, truth values and further named tuples. Compiled code sees the
    arrays themselves, so what it writes into them is seen in Python; numbers are copied.
    """

    __slots__ = ("_numba_type_", "_values", "_words", "address")

    def __init__(self, values: Any) -> None:  # noqa: ANN401  any named tuple
        numbers: list[int] = []
        # Numba reads this name itself, and need not come back to Python for every call.
        self._numba_type_ = _fill(values, numbers)
        words = np.array(numbers, dtype=np.int64)
        self.address = words.ctypes.data
        # Kept alive for as long as compiled code may read them.
        self._words, self._values = words, values


def _fill(values: Any, words: list[int]) -> PackedType:  # noqa: ANN401  any named tuple
    """Appends a tuple's words, as numba lays out its own arrays and numbers; returns its type."""
    begin = len(words)
    kinds: list[types.Type] = []
    places: list[int] = []
    for name, value in zip(values._fields, values, strict=True):
        places.append(len(words) - begin)
        if isinstance(value, np.ndarray):
            kinds.append(_array_type(value))
            words += (0, 0, value.size, value.itemsize, value.__array_interface__["data"][0])
            words += value.shape
            words += value.strides
        elif isinstance(value, tuple):
            kinds.append(_fill(value, words))
        elif isinstance(value, bool | np.bool_):
            kinds.append(types.boolean)
            words.append(int(value))
        elif isinstance(value, int | np.integer):
            kinds.append(types.int64)
            words.append(int(value))
        elif isinstance(value, float | np.floating):
            kinds.append(types.float64)
            words += _BITS.unpack(_NUMBER.pack(value))
        else:
            raise TypeError(
                f"{type(values).__name__}.{name} is a {type(value).__name__}; expected an array, "
                "a number or a named tuple of such."
            )
    # Numba's own look for a known type takes long. All types here are kept, so that their
    # identities tell them apart; places follow from the kinds.
    key = (type(values), *map(id, kinds))
    if key not in _known_tuples:
        fields = tuple(zip(values._fields, kinds, places, strict=True))
        _known_tuples[key] = PackedType(type(values).__name__, fields)
    return _known_tuples[key]


def _array_type(array: np.ndarray) -> types.Array:
    """Numba's own question takes long, and the same few kinds of array come again and again."""
    flags = array.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    key = (array.dtype, array.ndim, layout, flags.writeable)
    if key not in _known_types:
        _known_types[key] = numba.typeof(array)
    return _known_types[key]


_NUMBER, _BITS = struct.Struct("<d"), struct.Struct("<q")
_known_types: dict[tuple[np.dtype, int, str, bool], types.Array] = {}
_known_tuples: dict[tuple[object, ...], PackedType] = {}


@typeof_impl.register(Packed)
def _typeof(value: Packed, _context: object) -> PackedType:
    return value._numba_type_


@register_default(PackedType)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: object, kind: PackedType) -> None:
        super().__init__(manager, kind, _WORD.as_pointer())


@unbox(PackedType)
def _unbox(_kind: PackedType, value: Any, c: Any) -> NativeValue:  # noqa: ANN401  numba's own
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    pointer = c.builder.inttoptr(address, _WORD.as_pointer())
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = PackedType

    def generic_resolve(self, kind: PackedType, name: str) -> types.Type | None:
        found = kind.find(name)
        return None if found is None else found[0]


@lower_getattr_generic(PackedType)
def _read(context: Any, builder: Any, kind: PackedType, value: Any, name: str) -> Any:  # noqa: ANN401  numba's own
    found = kind.find(name)
    assert found is not None
    wanted, place = found
    pointer = _word_at(builder, value, place)
    if isinstance(wanted, PackedType):
        return pointer
    if isinstance(wanted, types.Array):
        array = _read_array(context.get_value_type(wanted), builder, value, place)
        return impl_ret_borrowed(context, builder, wanted, array)
    if wanted == types.boolean:
        return builder.icmp_unsigned("!=", _load(builder, pointer), _WORD(0))
    return _load(builder, builder.bitcast(pointer, context.get_value_type(wanted).as_pointer()))


def _word_at(builder: Any, pointer: Any, place: int) -> Any:  # noqa: ANN401  llvmlite's own
    return builder.gep(pointer, [ir.IntType(32)(place)])


def _load(builder: Any, pointer: Any) -> Any:  # noqa: ANN401  llvmlite's own
    """A word that never changes, so that loops need not read it again after every store."""
    loaded = builder.load(pointer)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _read_array(layout: Any, builder: Any, value: Any, place: int) -> Any:  # noqa: ANN401  llvmlite's own
    result = ir.Constant(layout, ir.Undefined)
    word = place
    for index, part in enumerate(layout.elements):
        if isinstance(part, ir.ArrayType):
            for axis in range(part.count):
                loaded = _load(builder, _word_at(builder, value, word))
                result = builder.insert_value(result, loaded, [index, axis])
                word += 1
            continue
        if index < 2:
            # Owner and parent: nobody counts references to what a packed tuple holds.
            loaded = ir.Constant(part, None)
        else:
            pointer = builder.bitcast(_word_at(builder, value, word), part.as_pointer())
            loaded = _load(builder, pointer)
        result = builder.insert_value(result, loaded, index)
        word += 1
    return result
