"""From the network's output to the joint values of a hand."""
