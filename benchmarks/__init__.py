"""Measurements: every speed as a ratio against the peer a user would pick, gated on agreement.

``handwright bench NAME`` runs them from a checkout; they are not part of the installed package.
"""

from __future__ import annotations

MODULES = {
    "kernels": "benchmarks.kernels.bench",
    "forces": "benchmarks.kernels.forces",
    "verify": "benchmarks.verify",
    "scenes": "benchmarks.scenes",
    "sampling": "benchmarks.sampling.bench",
    "spread": "benchmarks.sampling.spread",
    "preferences": "benchmarks.sampling.preferences",
    "trajopt": "benchmarks.trajopt.bench",
    "stepwise": "benchmarks.stepwise.bench",
    "recordings": "benchmarks.recordings.bench",
    "recorded-hand": "benchmarks.recordings.hand",
    "metrics": "benchmarks.recordings.metrics",
    "neural": "benchmarks.neural.bench",
    "neural-table": "benchmarks.neural.ablations",
    "neural-styles": "benchmarks.neural.styles",
    "neural-live": "benchmarks.neural.live",
    "neural-shapes": "benchmarks.neural.shapes",
    "throwing": "benchmarks.throwing.bench",
    "studio": "benchmarks.studio.bench",
}
"""Where ``run`` and ``describe`` of each measurement are."""
