import jax
import jax.numpy as jnp


class NoisyPendulum:
    def __init__(self, key, damping=0.1):
        self.key = key
        self.damping = damping

    def accelerate(self, angle, speed):
        return -jnp.sin(angle) - self.damping * speed

    def step(self, state, t):
        angle, speed = state
        kick = 0.01 * jax.random.normal(self.key)  # expect: key-reuse-in-loop
        speed = speed + 0.05 * self.accelerate(angle, speed) + kick
        return (angle + 0.05 * speed, speed), angle


def simulate(key, steps):
    pendulum = NoisyPendulum(key)
    return jax.lax.scan(pendulum.step, (jnp.float32(1.0), jnp.float32(0.0)), jnp.arange(steps))
