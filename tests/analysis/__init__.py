"""Tests of inplace_fix.analysis; a package, so that its modules may bear the names of others' tests."""
