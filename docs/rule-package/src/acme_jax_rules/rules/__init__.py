"""One rule in each file; jaxlint imports every module here whose name does not start with an underscore."""
