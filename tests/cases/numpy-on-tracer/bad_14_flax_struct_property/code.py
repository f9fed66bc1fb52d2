import jax
import jax.numpy as jnp
import numpy as np
from flax import struct


@struct.dataclass
class Rigid:
    quaternion: jax.Array
    mass: float = struct.field(pytree_node=False, default=1.0)

    @property
    def inertia(self):
        return self.mass * np.eye(3)

    @property
    def axis(self):
        return np.array([self.quaternion[1], self.quaternion[2], self.quaternion[3]])  # expect: numpy-on-tracer

    @classmethod
    def from_axis(cls, axis, mass):
        return cls(jnp.concatenate([jnp.zeros(1), axis]), mass=mass)


def spin(body, _):
    torque = body.inertia @ body.axis
    return body.replace(quaternion=body.quaternion.at[1:].add(0.01 * torque)), torque


def simulate(axis, steps):
    return jax.lax.scan(spin, Rigid.from_axis(axis, 2.0), None, length=steps)
