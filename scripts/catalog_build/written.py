"""Sample calls written by hand, as lines of Python, for callables that ``op_db`` has no sample for.

The names in them are those of ``calls._scope``.
"""

from __future__ import annotations

LINES = (
    "x.add(2.0)",
    "x.detach()",
    "x.view(-1); x.view(4, 3); x.view((2, 6))",
    "x.reshape(-1); x.t().reshape(-1)",
    "x.unfold(1, 2, 1)",
    "torch.as_strided(v, (3, 2), (1, 1)); v.as_strided((3, 2), (1, 1))",
    "F.embedding(i, x); F.embedding(i, x, max_norm=1.0)",
)
