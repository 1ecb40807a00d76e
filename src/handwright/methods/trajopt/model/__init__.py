"""A problem as the arrays that the residuals read."""
