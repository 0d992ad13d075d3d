"""Facts and evidence to findings, one module per fault family."""
