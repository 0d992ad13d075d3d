"""A finding to a plan of edits that keeps the program's meaning, applied whole or not at all."""
