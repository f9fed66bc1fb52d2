"""The static twin of tracing: an abstract interpreter over the IR of a whole project."""

from flake8_jax.semantics.analysis.analyze import Analysis, AnalysisOptions, SourceFile, analyse

__all__ = ["Analysis", "AnalysisOptions", "SourceFile", "analyse"]
