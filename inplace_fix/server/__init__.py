"""The editor's side: a language server over the same engine."""
