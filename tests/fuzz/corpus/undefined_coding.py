# coding: undefined
# Broke: a codec that refuses every text raised UnicodeError.
import jax
