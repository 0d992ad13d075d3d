"""The storage-keyed reference on random programs."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, seed
from profiles import SEED
from strategies import OVERLAP, Program, programs

torch = pytest.importorskip("torch")

from running import agrees, run, same_bits  # noqa: E402

from inplace_fix.trace.oracle import Oracle  # noqa: E402
from inplace_fix.trace.verify_lift import LeafWrites  # noqa: E402


@seed(SEED)
@given(programs())
def test_a_program_that_autograd_accepts_has_the_same_bits_under_the_oracle(
    tally: Counter[str], program: Program
) -> None:
    plain = run(program.text)
    if plain.error:
        assert plain.refused or OVERLAP in plain.error, plain.error
        tally["refused by autograd"] += 1
        return
    tally["compared"] += 1
    kept = run(program.text, Oracle(lift=False))
    assert kept.error == ""
    assert kept.rescued == 0
    assert all(same_bits(one, two) for one, two in zip(kept.values, plain.values, strict=True))
    assert all(same_bits(one, two) for one, two in zip(kept.gradients, plain.gradients, strict=True))


@seed(SEED)
@given(programs(silent=True))
def test_lifting_views_and_leaves_changes_no_program_that_needs_no_lift(tally: Counter[str], program: Program) -> None:
    kept = run(program.text, Oracle(lift=False))
    assume(not kept.error)
    tally["compared"] += 1
    assert agrees(run(program.text, Oracle(lift=True)), kept, tolerance=1e-9)


STEP = 1e-5
DIRECTION = "torch.linspace(0.3, 1.7, 12, dtype=torch.float64).reshape(3, 4).sin()"


def _shifted(program: Program, amount: float) -> str:
    """The program with its first leaf moved along one direction, off the round numbers at which relu and masks bend."""
    made = f"    {program.leaves[0]}.requires_grad_()"
    return program.text.replace(made, f"    {program.leaves[0]} += {0.0137 + amount!r} * {DIRECTION}\n{made}", 1)


@seed(SEED)
@given(programs(cuts=False))
def test_gradients_under_the_oracle_are_the_slopes_of_what_the_program_computes(
    tally: Counter[str], program: Program
) -> None:
    """An independent check that uses losses only. Where the slopes to both sides differ, the loss bends."""
    assume(".float()" not in program.text)
    before, here, after = (
        run(_shifted(program, amount), Oracle(lift=True, leaf=LeafWrites.CLONE)) for amount in (-STEP, 0.0, STEP)
    )
    assume(not here.error)
    left, right = (here.values[0] - before.values[0]) / STEP, (after.values[0] - here.values[0]) / STEP
    scale = 1.0 + abs(float(left))
    assume(scale < 1e4 and abs(float(left - right)) < 1e-2 * scale)
    tally["compared"] += 1
    gradient = here.gradients[0]
    assert gradient is not None
    slope = float((gradient * eval(DIRECTION)).sum())
    assert slope == pytest.approx(float(left + right) / 2, rel=1e-3, abs=1e-4 * scale)
