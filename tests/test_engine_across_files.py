"""What one file's run proves about another, and helpers that the settings name."""

from __future__ import annotations

from pathlib import Path

from inplace_fix import engine
from inplace_fix.nouns import Applicability, Severity

LOSSES = "import torch\n\n\ndef softmax(x):\n    exp = torch.exp(x)\n    exp /= exp.sum()\n    return exp\n"
TRAIN = """import torch
from losses import softmax

w = torch.ones(3, requires_grad=True)
softmax(w * 2).max().backward()
"""


def findings(paths: list[Path], **options: object) -> dict[str, list[Severity]]:
    results = engine.check(paths, engine.Options(**options))  # type: ignore[arg-type]
    return {result.path.name: [finding.severity for finding in result.findings] for result in results}


def test_a_function_on_unknown_input_is_a_note_until_a_program_proves_it(tmp_path: Path) -> None:
    losses, train = tmp_path / "losses.py", tmp_path / "train.py"
    losses.write_text(LOSSES)
    train.write_text(TRAIN)
    assert findings([losses]) == {"losses.py": [Severity.NOTE]}
    assert findings([losses, train]) == {"losses.py": [Severity.ERROR], "train.py": []}


def test_what_hangs_on_the_input_alone_is_not_repaired_unasked(tmp_path: Path) -> None:
    losses = tmp_path / "losses.py"
    losses.write_text(LOSSES)
    (result,) = engine.fix([losses], engine.Options())
    assert result.new_text is None
    (left,) = result.left
    assert left.fix is not None
    assert left.fix.applicability is Applicability.UNSAFE
    (result,) = engine.fix([losses], engine.Options(unsafe=True))
    assert result.new_text == LOSSES.replace("exp /= exp.sum()", "exp = exp / exp.sum()")


def test_a_helper_that_the_settings_name_writes_to_its_argument(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import torch, mylib\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\nmylib.fill(y)\ny.sum().backward()\n"
    )
    assert findings([path]) == {"program.py": []}
    assert findings([path], writes={"mylib.fill": 0}) == {"program.py": [Severity.ERROR]}


def test_a_fix_in_another_file_that_does_not_mend_its_fault_is_taken_back(tmp_path: Path) -> None:
    model, train = tmp_path / "model.py", tmp_path / "train.py"
    model.write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.head = torch.nn.Linear(3, 3)\n\n    def forward(self, x):\n"
        "        return self.head(torch.sin(x))\n"
    )
    train.write_text(
        "import torch\nfrom model import Net\n\nnet = Net()\n"
        "net.head.register_forward_hook(lambda module, inputs, output: (inputs[0].mul_(0.5), None)[1])\n"
        "net(torch.ones(3, 3, requires_grad=True)).sum().backward()\n"
    )
    model_result, train_result = engine.fix([model, train], engine.Options(unsafe=True))
    assert [finding.severity for finding in train_result.findings] == [Severity.ERROR]
    assert model_result.new_text is None
    assert [finding.code for finding in train_result.left] == ["IPF001"]
