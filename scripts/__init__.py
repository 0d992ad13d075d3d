"""Programs for those who work on the project: they build its data and measure it."""
