"""The removal of in-place flags."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import CloneExpression, DropFlag, OutOfPlaceCall, Span


def flag(position: int | None = None, target: str | None = None, keyword: str = "inplace"):
    def make(span: Span) -> DropFlag:
        return DropFlag(span, keyword, position, target)

    return make


@pytest.mark.parametrize(
    ("text", "maker", "expected"),
    [
        ("nn.ReLU(inplace=True)", flag(), "nn.ReLU()"),
        ("nn.ReLU(True)", flag(0), "nn.ReLU()"),
        ("nn.Dropout(0.1, True)", flag(1), "nn.Dropout(0.1)"),
        ("nn.Dropout(0.1, inplace=True)", flag(1), "nn.Dropout(0.1)"),
        ("nn.Dropout(inplace=True, p=0.1)", flag(1), "nn.Dropout(p=0.1)"),
        ("F.relu(x, inplace=True)", flag(), "F.relu(x)"),
        ("F.relu(x, True)", flag(1), "F.relu(x)"),
        ("F.threshold(x, 1, 2, True)", flag(3), "F.threshold(x, 1, 2)"),
        ("F.dropout(x, 0.5, True, True)", flag(3), "F.dropout(x, 0.5, True)"),
        ("f(a, True, b)", flag(1), "f(a, False, b)"),
        ("f(a, True, b=1)", flag(1), "f(a, b=1)"),
        ("f(inplace=False)", flag(), "f(inplace=False)"),
        ("f(inplace=flag)", flag(), "f(inplace=False)"),
        ("f(inplace=self.inplace, b=1)", flag(), "f(inplace=False, b=1)"),
        ("f(a, flag)", flag(1), "f(a, False)"),
        ("f(a)", flag(1), "f(a, inplace=False)"),
        ("f()", flag(), "f(inplace=False)"),
        ("f(\n    a,\n    b,\n)", flag(), "f(\n    a,\n    b,\n    inplace=False,\n)"),
        ("f(\n    a\n)", flag(), "f(\n    a,\n    inplace=False\n)"),
        ("f(**kw)", flag(), 'f(**{**kw, "inplace": False})'),
        ("f(a, **kw)", flag(1), 'f(a, **{**kw, "inplace": False})'),
        ("f(*a, inplace=True)", flag(), "f(*a)"),
        ("f( a , inplace = True )", flag(), "f( a )"),
        ("f(a, inplace=True,)", flag(), "f(a,)"),
        ("f(inplace=True, a=1)", flag(), "f(a=1)"),
        ("f(replace=True)", flag(keyword="replace"), "f()"),
        (
            "f(\n    a,  # first\n    inplace=True,  # fast\n    b=2,\n)",
            flag(),
            "f(\n    a,  # first\n    # fast\n    b=2,\n)",
        ),
        ("f(\n    a,  # first\n    inplace=True  # fast\n)", flag(), "f(\n    a  # first\n    # fast\n)"),
        ("f(\n    a,\n    inplace=True,\n)", flag(), "f(\n    a,\n)"),
        ("f(\n    inplace=True,  # fast\n)", flag(), "f(\n    # fast\n)"),
        ("f(\n    inplace=True,\n    a=1)", flag(), "f(\n    a=1)"),
        ("f(inplace=True,  # fast\n  a=1)", flag(), "f(  # fast\n  a=1)"),
        ("f(a,  # first\n  inplace=True)", flag(), "f(a  # first\n  )"),
    ],
)
def test_a_flag_goes_and_the_rest_of_the_call_stays(text: str, maker: object, expected: str) -> None:
    assert rewrite(f"z = ⟦{text}⟧  # c\n", maker) == f"z = {expected}  # c\n"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("⟦F.relu(y, inplace=True)⟧\n", "y = F.relu(y)\n"),
        ("if i: ⟦F.relu(y, inplace=True)⟧\n", "if i: y = F.relu(y)\n"),
        ("z = y + ⟦F.relu(y, inplace=True)⟧\n", "y = F.relu(y)\nz = y + y\n"),
        ("see(⟦F.relu(y, inplace=True)⟧)\n", "see(y := F.relu(y))\n"),
        ("y = ⟦F.relu(y, inplace=True)⟧\n", "y = F.relu(y)\n"),
    ],
)
def test_a_result_that_nobody_bound_is_bound(text: str, expected: str) -> None:
    result = rewrite(text, flag(target="y"))
    assert result == expected
    assert outcome(result) == outcome(marked(text)[0])


def test_a_module_without_its_flag_leaves_its_input_alone() -> None:
    text = "act = ⟦nn.ReLU(inplace=True)⟧\nz = act(y)\n"
    assert outcome(rewrite(text, flag()))["z"] == outcome(marked(text)[0])["z"]
    assert outcome(rewrite(text, flag()))["y"] == outcome("")["y"]


def test_other_rewrites_of_the_same_call_go_along() -> None:
    text = "⟦⟦F.relu(⟦y⟧, inplace=True)⟧⟧\n"
    result = rewrite(
        text, flag(), lambda span: OutOfPlaceCall(span, "F.relu({x}, {args})", "y", receiver=0), CloneExpression
    )
    assert result == "y = F.relu(y.clone())\n"


@pytest.mark.parametrize(
    ("text", "maker", "reason"),
    [
        ("⟦f(inplace=g())⟧\n", flag(), "effects"),
        ("⟦f(**a, **b)⟧\n", flag(), "several"),
        ("⟦f(*a)⟧\n", flag(1), "may come from"),
        ('z = f"{⟦f(**kw)⟧}"\n', flag(), "cannot hold"),
        ("⟦f⟧()\n", flag(), "no call"),
    ],
)
def test_a_flag_that_cannot_be_found_is_refused(text: str, maker: object, reason: str) -> None:
    assert reason in refusal(text, maker)  # type: ignore[arg-type]
