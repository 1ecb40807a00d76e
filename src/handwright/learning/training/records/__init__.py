"""What a training run leaves: checkpoints, curves, and the card of its model."""
