"""What is in a clip, in a few words: how it was made, frames, hands, bodies, contacts."""

from __future__ import annotations

from typing import Any

from handwright.core.certificate import Certificate
from handwright.core.clip import Clip


def clip_facts(clip: Clip, certificate: Certificate | None = None) -> dict[str, Any]:
    """What is in a clip, as JSON holds it.

    Args:
        clip: The motion.
        certificate: That was stored with it.
    """
    made = clip.provenance
    return {
        "kind": "clip",
        "scene": made.scene,
        "method": made.method,
        "seed": made.seed,
        "settings": dict(made.settings),
        "kept_digits": sorted({f"{part.hand}.{part.digit}" for part in made.kept}),
        "guided_hands": sorted(part.hand for part in made.guide),
        "version": made.version,
        "frames": clip.num_frames,
        "duration": float(clip.times[-1] - clip.times[0]),
        "fps": clip.fps,
        "hands": {
            name: {"model": model.name, "joints": model.num_joints}
            for name, model in clip.problem.hands.items()
        },
        "bodies": {
            name: {"mass": body.mass, "friction": body.friction, "faces": len(body.faces)}
            for name, body in clip.problem.bodies.items()
        },
        "contacts": len(clip.contacts),
        "is_certified": made.is_certified,
        "verdict": None if certificate is None else certificate.verdict,
    }


def clip_rows(clip: Clip, certificate: Certificate | None = None) -> list[tuple[str, str]]:
    """Pairs of what and how much, for people to read.

    Args:
        clip: The motion.
        certificate: That was stored with it.
    """
    made = clip.provenance
    # Settings that were left empty say nothing.
    settings = [
        f"{name}={value}" for name, value in made.settings.items() if value not in (None, [], ())
    ]
    rows = [
        ("scene", made.scene),
        ("method", f"{made.method}, seed {made.seed}"),
        ("settings", ", ".join(settings) or "none"),
        (
            "kept",
            ", ".join(sorted({f"{part.hand}.{part.digit}" for part in made.kept})) or "nothing",
        ),
        ("guided", ", ".join(sorted(part.hand for part in made.guide)) or "no hand"),
        ("made by", f"handwright {made.version}" if made.version else "an unknown version"),
    ]
    if certificate is not None:
        judged = f"{certificate.verdict} (as stored; 'handwright verify' judges it anew)"
    else:
        judged = "none is stored; 'handwright verify' makes one"
    rows.append(("certificate", judged))
    span = clip.times[-1] - clip.times[0]
    rows.append(("frames", f"{clip.num_frames} in {span:.3f} s ({clip.fps:.1f} a second)"))
    for name, model in clip.problem.hands.items():
        rows.append((f"hand {name}", f"{model.name}, {model.num_joints} joints"))
    for name, body in clip.problem.bodies.items():
        text = f"{1e3 * body.mass:.0f} g, friction {body.friction:g}, {len(body.faces)} faces"
        rows.append((f"body {name}", text))
    rows.append(("contacts", str(len(clip.contacts))))
    return rows
