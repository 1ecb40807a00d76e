"""Hands that react: speed, exactness, holding, and a simulated hand beside them."""
