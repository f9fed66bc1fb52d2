"""What jaxlint knows about code that it does not read: facts about libraries, as TOML tables behind look-ups."""

from flake8_jax.knowledge.loader import Knowledge, KnowledgeError, load

__all__ = ["Knowledge", "KnowledgeError", "load"]
