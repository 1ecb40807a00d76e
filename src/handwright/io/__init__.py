"""Files that others write and read.

Only what is quick to import is named here; ``export`` and ``load`` reach every format.
"""

from handwright.io.clip.file import load_clip, save_clip
from handwright.io.formats import EXPORTERS, IMPORTERS, export, load
from handwright.io.tracks_csv import load_tracks, save_tracks

__all__ = [
    "EXPORTERS",
    "IMPORTERS",
    "export",
    "load",
    "load_clip",
    "load_tracks",
    "save_clip",
    "save_tracks",
]
