"""Rewrites of PyTorch source, one module per form: pure syntax, every other byte of the file kept.

``codemods.apply(source, steps)`` carries out a plan; each module can also be run through LibCST's own command line.
"""
