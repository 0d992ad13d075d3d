"""What a rule is: a page that people read, and a check from facts to faults."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from inplace_fix.analysis.facts import Conflict, Facts, Form, Frame, Observation, Save, Site, Write
from inplace_fix.nouns import Certainty, Finding, Related, Severity


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A finding with what repair needs to know: the writes and saves behind it.

    ``writes`` are the same construct seen in different contexts (calls, rounds of a loop). Of what only a run showed,
    ``assumed`` says what the finding rests on, in words that follow "assuming" (no repair of it is safe then), and
    ``result`` is the expression whose result was saved.
    """

    finding: Finding
    site: Site
    writes: tuple[Write, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    observation: Observation | None = None
    assumed: str = ""
    result: Site | None = None

    @property
    def saves(self) -> tuple[Save, ...]:
        """The distinct saves that the writes spoil."""
        return tuple(dict.fromkeys(c.save for c in self.conflicts))


@dataclass(frozen=True, slots=True)
class Example:
    """A program of a rule's page: ``bad`` is reported, ``good`` is what to write instead and is not."""

    bad: str
    good: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault family. ``page`` is Markdown with the headings of every page; ``check`` finds the faults."""

    code: str
    name: str
    summary: str
    page: str
    check: Callable[[Facts], Iterator[Fault]]
    examples: tuple[Example, ...] = ()
    policy: str = "unsafe"  # from which policy on it is asked


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Every rule of this package, by code; a module with a RULE is a rule, nothing is registered by hand."""
    package = importlib.import_module("inplace_fix.rules")
    found = []
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"inplace_fix.rules.{info.name}")
        rule = getattr(module, "RULE", None)
        if isinstance(rule, Rule):
            found.append(rule)
    return tuple(sorted(found, key=lambda rule: rule.code))


def target_of(write: Write) -> Site:
    """The place a person must change: the constructor for a module's flag, the construct itself for the rest."""
    if write.form is Form.MODULE and write.made is not None:
        return write.made
    return write.site


def grouped(writes: Iterable[Write]) -> list[list[Write]]:
    """Writes by the place to change."""
    groups: dict[tuple[object, ast.AST], list[Write]] = {}
    for write in writes:
        site = target_of(write)
        groups.setdefault((site.unit, site.node), []).append(write)
    return list(groups.values())


def first_of_each(writes: Iterable[Write]) -> Iterator[Write]:
    """The first write to each tensor object: PyTorch refuses that one, and the later ones never come to pass."""
    seen: set[int] = set()
    for write in writes:
        if id(write.tensor) not in seen:
            seen.add(id(write.tensor))
            yield write


def decisive(write: Write, save: Save) -> Site:
    """Where the order of a save and a write hidden in a call is decided: the call in the innermost frame they share."""
    frames = []
    frame: Frame | None = save.frame
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    site, frame = write.site, write.frame
    while frame is not None and frame not in frames and frame.call is not None:
        site, frame = frame.call, frame.parent
    return site


def text_of(site: Site, limit: int = 60) -> str:
    """The source of a site on one line, shortened."""
    text = " ".join(site.unit.segment(site.node).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def related(message: str, site: Site) -> Related:
    """A second place."""
    return Related(message, site.unit.place(site.node))


def finding(
    rule_code: str,
    name: str,
    site: Site,
    message: str,
    certain: bool,
    *,
    more: Iterable[Related] = (),
    why: str = "",
    severity: Severity | None = None,
) -> Finding:
    """A finding at a site; errors are certain, warnings possible, unless a severity is given."""
    level = severity or (Severity.ERROR if certain else Severity.WARNING)
    certainty = Certainty.CERTAIN if certain else Certainty.POSSIBLE
    return Finding(rule_code, name, level, certainty, message, site.unit.place(site.node), tuple(more), why=why)


def observed(facts: Facts, *kinds: str) -> Iterator[Observation]:
    """Observations of some kinds, one a place."""
    seen = set()
    for observation in facts.observations:
        key = (observation.kind, observation.site.unit, observation.site.node)
        if observation.kind in kinds and key not in seen:
            seen.add(key)
            yield observation
