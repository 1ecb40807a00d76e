"""Recorded hands: windows solved without their fingers, bones fitted, published metrics."""
