"""inplace-fix finds and repairs in-place operations that break or corrupt PyTorch gradients.

Importing this package imports neither torch nor LibCST.
"""

__version__ = "0.1.0"
