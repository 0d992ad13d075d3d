"""Every rule as its page tells it: the bad example is reported, the good one not, a fix leads to what runs."""

from __future__ import annotations

import re
from pathlib import Path

import programs
import pytest

from inplace_fix import engine
from inplace_fix.nouns import Finding
from inplace_fix.rules import pages
from inplace_fix.rules.base import Example, Rule, rules

HEADINGS = ["What it does", "Why it is wrong", "Example", "Use instead", "When the fix is safe"]
EXAMPLES = [(rule, example) for rule in rules() for example in rule.examples]
PATH = Path("example.py")

# defects of today: each is to be struck off here once it is mended
UNSEEN = {
    "IPF016": "the index of the example is a parameter without an annotation, which is not known to be a tensor",
    "IPF018": "the left operand was read before the write, though it is used after it",
    "IPF019": "nothing observes the true division of integers",
}

each_rule = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
each_example = pytest.mark.parametrize(
    ("rule", "example"), EXAMPLES, ids=[f"{rule.code}-{number}" for number, (rule, _) in enumerate(EXAMPLES)]
)


def check(text: str, rule: Rule) -> list[Finding]:
    """What a rule reports in a text under its own policy."""
    options = engine.Options(policy=rule.policy, select=(rule.code,))
    (result,) = engine.check([PATH], options, {PATH: text})
    assert result.problem is None, result.problem
    return list(result.findings)


def fixed(text: str, rule: Rule) -> engine.FileResult:
    """The text after every fix of the rule, unsafe ones too."""
    options = engine.Options(policy=rule.policy, unsafe=True, select=(rule.code,))
    (result,) = engine.fix([PATH], options, {PATH: text})
    assert result.problem is None, result.problem
    return result


def python_of(page: str, heading: str) -> str:
    """The first block of code under a heading."""
    found = re.search(rf"^## {heading}\n.*?^```python\n(.*?)^```", page, flags=re.M | re.S)
    assert found is not None, heading
    return found[1]


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in rules()}) == len({rule.name for rule in rules()}) == len(rules())


@each_rule
def test_a_rule_is_named_in_kebab_case(rule: Rule) -> None:
    assert re.fullmatch(r"IPF\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.policy in engine.POLICIES


@each_rule
def test_a_page_has_the_headings_of_every_page(rule: Rule) -> None:
    assert rule.page.startswith(f"# {rule.code}: {rule.name}\n")
    assert re.findall(r"^## (.*)$", rule.page, flags=re.M) == HEADINGS


@each_rule
def test_a_page_is_served_by_code_and_by_name(rule: Rule) -> None:
    assert pages(rule.code) == pages(rule.code.lower()) == pages(rule.name) == rule.page


def test_no_page_is_served_for_what_is_no_rule() -> None:
    assert pages("IPF999") is None


@each_rule
def test_a_rule_has_an_example(rule: Rule) -> None:
    assert rule.examples


@each_rule
def test_the_code_on_a_page_parses(rule: Rule) -> None:
    for heading in ("Example", "Use instead"):
        compile(python_of(rule.page, heading), rule.code, "exec")


@each_example
def test_the_bad_example_is_reported(rule: Rule, example: Example, request: pytest.FixtureRequest) -> None:
    if rule.code in UNSEEN:
        request.applymarker(pytest.mark.xfail(reason=UNSEEN[rule.code], strict=True))
    assert {(finding.code, finding.name) for finding in check(example.bad, rule)} == {(rule.code, rule.name)}


@each_example
def test_the_good_example_is_not_reported(rule: Rule, example: Example) -> None:
    assert check(example.good, rule) == []


@each_example
def test_a_finding_has_a_fix_or_the_reason_why_there_is_none(rule: Rule, example: Example) -> None:
    for finding in check(example.bad, rule):
        assert (finding.fix is None) == bool(finding.no_fix)
        assert finding.fix is None or finding.fix.message


@each_example
def test_a_fix_leaves_nothing_to_report(rule: Rule, example: Example) -> None:
    result = fixed(example.bad, rule)
    if result.new_text is not None:
        assert check(result.new_text, rule) == []
    else:
        assert all(finding.fix is None for finding in result.findings)


@pytest.mark.skipif(not programs.TORCH, reason="torch is not installed")
@each_example
def test_good_and_fixed_examples_run(rule: Rule, example: Example) -> None:
    result = fixed(example.bad, rule)
    for text in (example.good, result.new_text):
        if text is not None:
            assert programs.run(text).error == ""
