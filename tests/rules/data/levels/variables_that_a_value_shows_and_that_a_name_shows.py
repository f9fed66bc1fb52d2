import flax.linen as nn


def masked(state, masks):
    return state.replace(params=state.params.copy(masks))  # warning: removed-api


def known(key, x):
    return nn.Dense(2).init(key, x).unfreeze()  # error: removed-api
