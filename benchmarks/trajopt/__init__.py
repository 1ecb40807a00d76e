"""Contact-invariant optimisation: success, exactness, and the paper's solver beside ours."""
