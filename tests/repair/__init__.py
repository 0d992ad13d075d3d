"""Tests of inplace_fix.repair; a package, so that its modules may bear the names of others' tests."""
