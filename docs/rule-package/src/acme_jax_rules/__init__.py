"""Rules of Acme for jaxlint."""
