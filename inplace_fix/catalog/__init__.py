"""Facts about torch as data: what each operation writes, returns and saves for backward."""
