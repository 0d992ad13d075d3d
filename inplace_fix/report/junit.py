"""Findings as a JUnit report: a failed test for each finding, an error for each file that could not be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from inplace_fix.engine import Problem
from inplace_fix.nouns import Finding
from inplace_fix.report.texts import shown, where

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dumps(findings: Sequence[Finding], problems: Sequence[Problem]) -> str:
    """The whole report; one passed test where nothing was found, since readers refuse an empty suite."""
    cases = [_case(shown(f.place.path), f"{f.code} {f.name} at {where(f.place)}", "failure", f) for f in findings]
    cases += [_case(shown(p.path), f"{shown(p.path)} cannot be analysed", "error", p) for p in problems]
    if not cases:
        cases = ['    <testcase classname="inplace-fix" name="no in-place fault"/>']
    counts = f'tests="{len(cases)}" failures="{len(findings)}" errors="{len(problems)}"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            f"<testsuites {counts}>",
            f'  <testsuite name="inplace-fix" {counts}>',
            *cases,
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _case(path: str, name: str, element: str, subject: Finding | Problem) -> str:
    words = "\n".join(
        [subject.message, subject.why] if isinstance(subject, Finding) and subject.why else [subject.message]
    )
    return (
        f"    <testcase classname={_attribute(path)} name={_attribute(name)}>\n"
        f"      <{element} message={_attribute(subject.message)}>{escape(_clean(words))}</{element}>\n"
        "    </testcase>"
    )


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
