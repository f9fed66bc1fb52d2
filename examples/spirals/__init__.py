"""Tell two spirals apart: a small JAX project that makes the mistakes people make."""
