"""Tracks of motion capture, corrected within stated bounds before fingers are sought for them."""

from handwright.conditioning.corrected import corrected
from handwright.conditioning.corrections import Corrected, Correction
from handwright.conditioning.settings import Conditioning

__all__ = ["Conditioning", "Corrected", "Correction", "corrected"]
