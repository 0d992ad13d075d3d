"""The server in a real editor: Neovim, without a screen, shows a finding and applies its quick fix."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fix import engine
from inplace_fix.engine import Options

NVIM = shutil.which("nvim")
FAULTY = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
name = "\N{GRINNING FACE}"; y.add_(5.0)
y.sum().backward()
"""
# Everything happens in Neovim's own client; only what it saw and what the buffer holds leaves it.
SCRIPT = """
local out, python, root = os.getenv("TEST_OUT"), os.getenv("TEST_PYTHON"), os.getenv("TEST_ROOT")
local seen = {}
local function finish(failure)
  seen.failure = failure
  seen.buffer = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") .. "\\n"
  local file = io.open(out, "w")
  file:write(vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen))
  file:close()
  vim.lsp.stop_client((vim.lsp.get_clients or vim.lsp.get_active_clients)())
  vim.cmd("qall!")
end
local ok, failure = pcall(function()
  vim.cmd("edit " .. root .. "/model.py")
  local id = (vim.lsp.start or vim.lsp.start_client)({
    name = "inplace-fix",
    cmd = { python, "-m", "inplace_fix", "server" },
    root_dir = root,
  })
  vim.lsp.buf_attach_client(0, id)
  local shown = vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20)
  if not shown then error("no diagnostics came") end
  for _, one in ipairs(vim.diagnostic.get(0)) do
    seen.diagnostic = { row = one.lnum, column = one.col, code = one.code, source = one.source, message = one.message }
  end
  vim.api.nvim_win_set_cursor(0, { seen.diagnostic.row + 1, 20 })
  seen.offered = {}
  vim.ui.select = function(items, _, choose)
    for _, item in ipairs(items) do table.insert(seen.offered, (item.action or item[2]).title) end
    for _, item in ipairs(items) do
      if (item.action or item[2]).isPreferred then return choose(item) end
    end
    error("no preferred action among " .. #items)
  end
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  local changed = vim.wait(60000, function() return vim.api.nvim_buf_get_changedtick(0) ~= before end, 20)
  if not changed then error("the quick fix changed nothing") end
  local cleared = vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 20)
  if not cleared then error("the diagnostic stayed after its repair") end
end)
finish(not ok and tostring(failure) or nil)
"""


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed (Debian: apt-get install neovim)")
def test_neovim_shows_the_finding_and_its_quick_fix_makes_the_buffer_what_the_engine_makes_of_the_file(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model.py"
    model.write_text(FAULTY, encoding="utf-8")
    (result,) = engine.fix([model], Options())
    script, out = tmp_path / "script.lua", tmp_path / "out.json"
    script.write_text(SCRIPT, encoding="utf-8")
    homes = {
        name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    }
    given = {"TEST_OUT": str(out), "TEST_PYTHON": sys.executable, "TEST_ROOT": str(tmp_path)}
    ended = subprocess.run(
        [str(NVIM), "--headless", "-u", "NONE", "-n", "-c", f"luafile {script}"],
        env={**os.environ, **homes, **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )
    seen = json.loads(out.read_text(encoding="utf-8"))
    assert seen.get("failure") is None, (seen, ended.stderr)
    assert (seen["diagnostic"]["code"], seen["diagnostic"]["source"]) == ("IPF001", "inplace-fix")
    line = FAULTY.split("\n")[4]
    assert (seen["diagnostic"]["row"], seen["diagnostic"]["column"]) == (4, len(line[: line.index("y.add_")].encode()))
    assert seen["buffer"] == result.new_text
    assert seen["offered"][0].startswith("Fix IPF001: ")
