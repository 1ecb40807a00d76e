"""The command 'synth': options for the settings of every method, made from their dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from tyro.conf import Positional

from handwright.cli.console import tell_deprecated, unset
from handwright.deprecated import option_of, option_renames, renamed_options
from handwright.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from handwright.core.settings import SettingField
    from handwright.methods import Method

_METAVARS = {"integer": "INT", "number": "NUMBER", "text": "NAME"}
_TYPES: dict[str, type] = {"integer": int, "number": float, "text": str}
_SHARED = "search"
"""Title of the options that several methods have."""


@dataclasses.dataclass(frozen=True)
class SynthArguments:
    """Arguments of the command that are no settings of a method."""

    problem: Annotated[Positional[str], tyro.conf.arg(metavar="SCENE|GOALS.yaml")]
    """One of those that 'handwright scenes' lists, or a file of goals."""
    method: Annotated[str | None, unset("NAME")] = None
    """One of those that 'handwright methods' lists; the one that suits the problem by default."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/synth")
    """Folder for the clips; made if it is not there."""
    seed: int = 0
    """Random seed; the same seed gives the same result."""
    keep_refused: tyro.conf.FlagCreatePairsOff[bool] = False
    """Write the motions that the certificate refuses, too, into the folder 'refused' in --out, each
    with its verdict."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object: status, clips with their verdicts, refusals, timings."""


def synth(*arguments: str) -> None:
    """Make motions for a scene or a file of goals, and write them as clips.

    Every motion is certified before it is written, as SCENE_s0_00.npz for seed 0, SCENE_s0_01.npz
    and so on; files that are there already are left alone. Motions that the certificate refuses are
    not written, unless with --keep-refused. The first run on a machine compiles, which takes some
    minutes. Ctrl-C and SIGTERM end the search; what it has found by then is kept.
    Ends with exit code 0 if all motions asked for were found, 1 if fewer or none were, and 130 if
    it was stopped.

    Each method has options of its own: its settings, in groups below. With --method NAME --help,
    only those of this method are shown. Pins, forbidden regions, fixed joints, edited bodies and
    tracks of your own are for Python: docs/how-to/direct-a-motion.md.

    Args:
        arguments: Arguments of the command line after the word synth.
    """
    from handwright.cli.synth import load_problem, run
    from handwright.methods import METHODS, default_method, loaded_methods

    given = list(arguments)
    chosen = _value_of("--method", given)
    if chosen is not None and chosen not in METHODS:
        raise UnknownNameError("method", chosen, METHODS)
    # A method that is not asked for need not be loaded.
    classes = loaded_methods() if chosen is None else {chosen: METHODS[chosen]}
    given = renamed_options(given, option_renames(classes.values()), tell_deprecated)
    if chosen is not None:
        _refuse_foreign(chosen, [word.partition("=")[0] for word in given if word[:2] == "--"])
    parsed = tyro.cli(
        synth_parser(classes),
        prog="handwright synth",
        description=_description(),
        args=given,
    )
    name, problem = load_problem(parsed.problem)
    method = default_method(problem) if chosen is None else chosen
    values = given_settings(parsed, classes)
    if chosen is None:
        written = {item.name: _word(item) for g in _groups(classes).values() for item in fields(g)}
        _refuse_foreign(method, [written[key] for key in values])
    run(name, problem, classes[method](**values), parsed)


def synth_parser(methods: Mapping[str, type[Method]]) -> type[SynthArguments]:
    """A dataclass for tyro: the arguments of the command, and a group of options per method.

    Args:
        methods: Methods whose settings become options.
    """
    groups = [
        (
            name,
            Annotated[group, tyro.conf.arg(help=group.__doc__)],
            dataclasses.field(default_factory=group),
        )
        for name, group in _groups(methods).items()
    ]
    made: type[SynthArguments] = dataclasses.make_dataclass(
        "Synth", groups, bases=(SynthArguments,), frozen=True
    )
    return made


def given_settings(parsed: SynthArguments, methods: Mapping[str, type[Method]]) -> dict[str, Any]:
    """Settings that were given on the command line, by name.

    Args:
        parsed: What tyro has made of the command line.
        methods: As for the parser.
    """
    values = {}
    for name, group in _groups(methods).items():
        options = getattr(parsed, name)
        for item in fields(group):
            value = getattr(options, item.name)
            if value != item.default:
                parse = item.metadata["from_words"]
                values[item.name] = value if parse is None else parse(value)
    return values


def _groups(methods: Mapping[str, type[Method]]) -> dict[str, type]:
    """Dataclasses of options: those that several methods have, then those of each method."""
    from handwright.core.settings import settings_of

    owners: dict[str, dict[str, SettingField]] = defaultdict(dict)
    for name, cls in methods.items():
        for item in settings_of(cls):
            if item.kind != "object" or item.about.from_words is not None:
                owners[item.name][name] = item
    rows: dict[str, list[Any]] = {_SHARED: [], **{name: [] for name in methods}}
    for setting, having in owners.items():
        title = _SHARED if len(having) > 1 else next(iter(having))
        rows[title].append(setting_option(setting, having))
    about = {_SHARED: "Settings of several methods."}
    about |= {name: _about(cls) for name, cls in methods.items()}
    return {
        title: dataclasses.make_dataclass(
            title.capitalize(), options, frozen=True, namespace={"__doc__": about[title]}
        )
        for title, options in rows.items()
        if options
    }


def setting_option(name: str, having: Mapping[str, SettingField]) -> tuple[str, Any, Any]:
    """A field for tyro; its default stands for "not given"."""
    item = next(iter(having.values()))
    about = item.about
    argument: dict[str, Any] = {
        "prefix_name": False,
        "help_behavior_hint": "",
        "help": _help(having),
    }
    metadata = {"from_words": about.from_words}
    hint: Any
    default: Any
    if item.kind == "boolean":
        if item.default:
            argument["help"] = f"Switches this off: {argument['help']}"
        marks = (tyro.conf.FlagCreatePairsOff, tyro.conf.arg(**argument))
        hint, default = Annotated[(bool, *marks)], item.default
    elif about.from_words is not None:
        argument["metavar"] = f"[{about.words} ...]"
        hint, default = Annotated[tuple[str, ...], tyro.conf.arg(**argument)], ()
    else:
        choices = item.choices
        argument["metavar"] = (
            f"{{{','.join(map(str, choices))}}}" if choices else _METAVARS[item.kind]
        )
        plain = Literal[choices] if choices else _TYPES[item.kind]
        hint, default = Annotated[plain | None, tyro.conf.arg(**argument)], None
    return name, hint, dataclasses.field(default=default, metadata=metadata)


def _help(having: Mapping[str, SettingField]) -> str:
    """Help of a setting, with its unit and its default."""
    item = next(iter(having.values()))
    defaults = {name: one.default_text for name, one in having.items()}
    if len(set(defaults.values())) == 1:
        default = f"default {item.default_text}"
    else:
        listed = ", ".join(f"{value} with {name}" for name, value in defaults.items())
        default = f"default {listed}"
    unit = f"{item.about.unit}, " if item.about.unit else ""
    methods = f"{', '.join(having)}; " if len(having) > 1 else ""
    return f"{item.about.help} ({methods}{unit}{default})"


def _about(cls: type[Method]) -> str:
    from handwright.methods.about import about_method

    about = about_method(cls)
    papers = f" ({about.short_papers})" if about.papers else ""
    return f"{about.title}{papers}. {about.suited_to}"


def _description() -> str:
    text = inspect.cleandoc(synth.__doc__ or "")
    return text.partition("\n\nArgs:")[0]


def _refuse_foreign(method: str, options: Iterable[str]) -> None:
    """Refuses options that are settings of other methods only."""
    from handwright.methods import METHODS, loaded_methods

    own = set(_options_of(METHODS[method]))
    others = [option for option in dict.fromkeys(options) if option not in own]
    if not others:
        return
    classes = loaded_methods().values()
    known = {*option_renames(classes), *(option for cls in classes for option in _options_of(cls))}
    foreign = [option for option in others if option in known]
    if foreign:
        raise InvalidValueError(
            f"The method '{method}' was given {', '.join(foreign)}, which it does not take. "
            f"It takes {', '.join(_options_of(METHODS[method])) or 'no settings'}."
        )


def _options_of(cls: type[Method]) -> list[str]:
    groups = _groups({cls.name: cls}).values()
    return [_word(item) for group in groups for item in fields(group)]


def _word(item: dataclasses.Field[Any]) -> str:
    """What one writes on the command line; a setting that is on by default is switched off."""
    return option_of(f"no_{item.name}" if item.default is True else item.name)


def _value_of(option: str, given: Sequence[str]) -> str | None:
    """Value of an option that stands somewhere in the arguments; None if it is not there."""
    for number, word in enumerate(given):
        name, mark, value = word.partition("=")
        if name == option:
            return value if mark else next(iter(given[number + 1 : number + 2]), None)
    return None
