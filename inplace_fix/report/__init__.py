"""Findings and fixes as text, diff, JSON, SARIF and annotations."""
