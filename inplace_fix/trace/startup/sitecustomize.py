"""Lets the Python processes that a traced program starts be traced as well.

A traced run puts this directory in front of ``PYTHONPATH``, so Python imports this module when such a process begins.
It takes itself out of the way first: the environment's own ``sitecustomize``, if there is one, runs as it would have.
"""

import os
import sys


def _step_aside() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        sys.modules["sitecustomize"] = this  # importing it must leave a module of that name behind


def _begin() -> None:
    settings = os.environ.get("INPLACE_FIX_TRACE")
    if not settings:
        return
    package = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
    sys.path.append(package)
    try:
        from inplace_fix.trace.children import begin
    except ImportError:
        return
    finally:
        sys.path.remove(package)
    begin(settings)


_step_aside()
_begin()
