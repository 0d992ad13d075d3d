"""How the catalog is measured: the parts behind ``scripts/build_catalog.py``."""
