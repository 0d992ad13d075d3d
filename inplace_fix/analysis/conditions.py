"""Path conditions: which arm of which branch an event belongs to, and bindings that hold under such conditions.

The abstract run executes both arms of an undecided branch one after the other on the same heap. Everything that happens
in an arm carries the arm in its condition, so that a save in one arm and a write in the other never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inplace_fix.analysis.values import Value

# A condition maps a branch to the arm taken; the empty one always holds. Conditions are never changed once made.
Condition = Mapping[Hashable, int]
ALWAYS: Condition = {}

# More alternatives than this for one name help nobody; the oldest are forgotten, which can only miss a fault.
MOST_ALTERNATIVES = 6


def compatible(first: Condition, second: Condition) -> bool:
    """Whether both conditions can hold in one run."""
    if not first or not second:
        return True
    if len(second) < len(first):
        first, second = second, first
    for branch, arm in first.items():  # noqa: SIM110  (asked more often than anything else, and a generator is slow)
        if second.get(branch, arm) != arm:
            return False
    return True


def implies(strong: Condition, weak: Condition) -> bool:
    """Whether ``weak`` holds in every run in which ``strong`` holds."""
    return weak.items() <= strong.items()


def both(first: Condition, second: Condition) -> Condition:
    """The conjunction of two compatible conditions."""
    if not second or first is second:
        return first
    if not first:
        return second
    return {**first, **second}


class Cell:
    """A place that holds a value: a variable, an attribute, a container's slot.

    Bindings are kept newest last, each with the condition under which it was made. ``kind`` is local, global, closure,
    attribute or item, ``label`` is how a person would write the place.
    """

    __slots__ = ("bindings", "kind", "label")

    def __init__(self, kind: str, label: str) -> None:
        self.kind = kind
        self.label = label
        self.bindings: list[tuple[Condition, Value, int]] = []

    def write(self, condition: Condition, value: Value, tick: int) -> None:
        """Bind under ``condition``; what is overwritten on every path where it held is forgotten."""
        before = self.bindings if condition else ()
        kept = [b for b in before if not implies(b[0], condition)][1 - MOST_ALTERNATIVES :]
        self.bindings = [*kept, (condition, value, tick)]

    def read(self, condition: Condition) -> Iterator[tuple[Condition, Value, int]]:
        """The bindings that can be seen under ``condition``, newest first, each with its full condition and tick."""
        hidden: list[Condition] = []
        for guard, value, tick in reversed(self.bindings):
            if not compatible(guard, condition) or any(implies(guard, other) for other in hidden):
                continue
            yield without(both(condition, guard), hidden), value, tick
            if implies(condition, guard):
                return
            hidden.append(guard)

    @property
    def bound(self) -> bool:
        """Whether anything was ever bound here."""
        return bool(self.bindings)

    def latest(self) -> Value | None:
        """The newest binding whatever its condition."""
        return self.bindings[-1][1] if self.bindings else None


class PendingCell(Cell):
    """A place whose first value is worked out when somebody first looks: a name at the top level of a module.

    It turns into a plain cell at that moment, so that only the first look costs anything.
    """

    __slots__ = ()

    def __init__(self, kind: str, label: str, fill: Callable[[], object]) -> None:
        self.kind = kind
        self.label = label
        STORED.__set__(self, fill)

    @property
    def bindings(self) -> list[tuple[Condition, Value, int]]:
        """The bindings, made now. ``fill`` binds this place as any statement does."""
        fill = STORED.__get__(self)
        self.bindings = []
        fill()
        return self.bindings

    @bindings.setter
    def bindings(self, value: list[tuple[Condition, Value, int]]) -> None:
        self.__class__ = Cell  # type: ignore[assignment]
        self.bindings = value


STORED: Any = Cell.__dict__["bindings"]  # the slot itself, which the property of a pending cell hides


def without(condition: Condition, hidden: list[Condition]) -> Condition:
    """``condition`` and none of ``hidden``: exact where these differ in one two-armed branch, else ``condition``."""
    result: dict[Hashable, int] | None = None
    for other in hidden:
        open_branches = [(branch, arm) for branch, arm in other.items() if condition.get(branch) != arm]
        if len(open_branches) == 1 and open_branches[0][1] in (0, 1) and open_branches[0][0] not in condition:
            if result is None:
                result = dict(condition)
            result[open_branches[0][0]] = 1 - open_branches[0][1]
    return condition if result is None else result
