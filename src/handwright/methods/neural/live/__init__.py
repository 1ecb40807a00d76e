"""Fingers while tracking goes on: timed poses in, postures of the hands a little later out."""

from handwright.methods.neural.live.counts import COUNTS
from handwright.methods.neural.live.finger_model import FingerModel
from handwright.methods.neural.live.frames import LiveFrame, LiveHand
from handwright.methods.neural.live.live_fingers import LiveFingers
from handwright.methods.neural.live.settings import LiveSettings

__all__ = ["COUNTS", "FingerModel", "LiveFingers", "LiveFrame", "LiveHand", "LiveSettings"]
