"""Plans repairs of source texts for the tests of repair."""

from __future__ import annotations

import textwrap
from pathlib import Path

from inplace_fix import engine
from inplace_fix.analysis.entries import analyse
from inplace_fix.analysis.project import Project
from inplace_fix.catalog.reader import load
from inplace_fix.nouns import Finding
from inplace_fix.rules.base import Fault, rules

PATH = Path("program.py")
X = "x = torch.ones(3, 3, requires_grad=True)\n"


def program(text: str) -> str:
    """A text without its common indentation, after an import of torch on line 1."""
    return "import torch\n" + textwrap.dedent(text).lstrip("\n")


def faults(text: str, code: str = "IPF001") -> list[Fault]:
    """The faults of one rule in a text."""
    source = program(text)
    project = Project({PATH: source}.__getitem__)
    project.know([PATH])
    facts = analyse(project, project.add(PATH), load())
    (rule,) = (rule for rule in rules() if rule.code == code)
    return list(rule.check(facts))


def finding(text: str, code: str = "", policy: str = "unsafe") -> Finding:
    """The one finding in a text, with its fix or the reason why there is none."""
    options = engine.Options(policy=policy, select=(code,) if code else ())
    (result,) = engine.check([PATH], options, {PATH: program(text)})
    assert result.problem is None, result.problem
    (found,) = result.findings
    return found


def fixed(text: str, *, unsafe: bool = False, policy: str = "unsafe") -> str:
    """A text after its repair, without the first line."""
    (result,) = engine.fix([PATH], engine.Options(policy=policy, unsafe=unsafe), {PATH: program(text)})
    assert result.problem is None, result.problem
    return (result.new_text or result.text).partition("\n")[2]
