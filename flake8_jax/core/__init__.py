"""Plain data that every other part speaks: spans, findings, fixes, settings. Imports nothing of the project."""
