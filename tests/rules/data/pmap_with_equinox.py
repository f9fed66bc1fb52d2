"""pmap in the spelling of Equinox."""

import equinox as eqx


@eqx.filter_pmap  # expect: pmap
def filtered(x):
    return x + 1
