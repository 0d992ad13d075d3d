"""The move of a leading scalar into a keyword."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import ScalarFirst, Span


def scalar(keyword: str = "alpha", position: int = 0):
    def make(span: Span) -> ScalarFirst:
        return ScalarFirst(span, keyword, position)

    return make


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.parametrize(
    ("text", "maker", "expected"),
    [
        ("⟦x.add_(2, y)⟧\n", scalar(), "x.add_(y, alpha=2)\n"),
        ("⟦x.addcmul_(2, a, b)⟧\n", scalar("value"), "x.addcmul_(a, b, value=2)\n"),
        ("z = ⟦torch.add(x, 2, y)⟧\n", scalar(position=1), "z = torch.add(x, y, alpha=2)\n"),
        ("⟦x.add_(2,  # twice\n    y)⟧\n", scalar(), "x.add_(y,  # twice\n    alpha=2)\n"),
        ("⟦x.add_(i + 1, y)⟧\n", scalar(), "x.add_(y, alpha=i + 1)\n"),
        ("⟦x.add_(2, y,)⟧\n", scalar(), "x.add_(y, alpha=2,)\n"),
        ("⟦x.add_(2, see(y))⟧\n", scalar(), "x.add_(see(y), alpha=2)\n"),
    ],
)
def test_a_leading_scalar_becomes_a_keyword(text: str, maker: object, expected: str) -> None:
    assert rewrite(text, maker) == expected  # type: ignore[arg-type]
    assert outcome(expected) == outcome(marked(text)[0])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("⟦x.add_(y)⟧\n", "no scalar"),
        ("⟦x.add_(*p)⟧\n", "no scalar"),
        ("⟦x.add_(2, other=y)⟧\n", "not a positional"),
        ("⟦x.add_(2, y, alpha=3)⟧\n", "already"),
        ("⟦x.add_(see(2), see(y))⟧\n", "change places"),
    ],
)
def test_a_call_that_is_no_such_overload_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(text, scalar())
