"""Programs that grow, and tests that the analysis grows no faster."""
