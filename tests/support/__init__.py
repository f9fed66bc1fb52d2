"""Helpers that several test directories share."""
