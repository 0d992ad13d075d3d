"""What each torch operation writes, returns and saves for backward: measured data, read without torch."""

from inplace_fix.catalog.model import Catalog, Kind, ModuleFacts, Op, Result, Save
from inplace_fix.catalog.reader import load

__all__ = ["Catalog", "Kind", "ModuleFacts", "Op", "Result", "Save", "load"]
