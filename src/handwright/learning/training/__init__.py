"""Training of the networks that ``methods.neural`` runs; the only room that imports torch."""
