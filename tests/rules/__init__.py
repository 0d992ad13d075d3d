"""Tests of inplace_fix.rules; a package, so that its modules may bear the names of others' tests."""
