"""Costs of a motion, one file for each kind.

A term returns its cost, half the sum of its squared residuals. With ``with_gradient`` it also adds
gradient and Gauss-Newton matrix to the normal equations of the workspace.
"""
