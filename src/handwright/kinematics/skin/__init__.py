"""The skin of a posed hand: skinning, and sample points for distances."""
