"""Loops that step plain numbers in a file that imports JAX and no other library for arrays: nothing says that JAX runs them."""

import jax
import jax.numpy as jnp


def growth(balance, interest, fee, tax, days):
    for day in days:
        balance = balance + interest - fee(day) * 2 + tax(balance)
    return balance


def checksum(data, mix, spread):
    code = mix(0)
    for byte in data:
        code = (code ^ byte) * 31 + mix(code) - spread(code, byte) % 65521
    return code


def table_of_prices(table, market, rows):
    price = market(0)
    for row in rows:
        price = price * 2 + market(row) - market(price) * 3 + market(row + 1)
        table.at[row, "price"] = price
    return table


def simulated(state, force, friction, steps):
    for step in range(steps):  # expect: eager-step
        state = state + 0.1 * force(state, step) - 0.5 * friction(state) * state
    return jnp.linalg.norm(state)


def descend(gradient, x, steps):
    step = jax.jit(gradient)
    for _ in range(steps):
        x = x - 0.1 * step(x)
    return x
