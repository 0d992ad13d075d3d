"""inplace-fix finds and repairs in-place operations that break or corrupt PyTorch gradients.

Importing this package imports neither torch nor LibCST.
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """``inplace_fix.tracing`` is looked up when it is first used: importing it reads more than a check needs."""
    if name == "tracing":
        from inplace_fix.trace.session import tracing

        return tracing
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
