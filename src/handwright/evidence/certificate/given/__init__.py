"""What a clip says of its bodies and hands: whether it can be, and what is out of the ordinary."""
