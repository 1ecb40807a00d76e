"""Inverse kinematics: single digits, whole hands, arms; closing and reach."""
