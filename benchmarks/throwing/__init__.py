"""Catching and throwing, measured."""
