"""Runs a package's models forward and backward before and after the package was rewritten, and compares bit for bit.

    python scripts/verify_models.py [--package torchvision] [--models resnet,swin] [--policy all] [--largest 60]

The rewritten copy of the package goes first on the path of the second run; the installed one is only read.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from inplace_fix.trace.verify_compare import compare
from inplace_fix.trace.verify_record import Recorder
from scripts.policy_all import IGNORED, report, rewrite

Build = Callable[[], torch.nn.Module]
KEPT = 1 << 24


def torchvision_models() -> Iterator[tuple[str, Build, tuple[int, ...]]]:
    """Every classification model of torchvision: name, how to build it, and the sizes of its input."""
    models = importlib.import_module("torchvision.models")
    for name in models.list_models(module=models):
        size = {"inception_v3": 299}.get(name, 224 if name.startswith(("vit", "swin", "maxvit", "alex", "vgg")) else 96)
        yield name, partial(models.get_model, name, weights=None), (2, 3, size, size)


PACKAGES: Mapping[str, Callable[[], Iterator[tuple[str, Build, tuple[int, ...]]]]] = {"torchvision": torchvision_models}


def run_models(package: str, wanted: Sequence[str], largest: float, folder: Path) -> None:
    """Run each wanted model once in training mode; write its record, or the reason why there is none, to ``folder``."""
    for name, build, sizes in PACKAGES[package]():
        if wanted and not any(part in name for part in wanted):
            continue
        try:
            record = _run_model(build, sizes, largest)
        except Exception as error:
            record = f"{type(error).__name__}: {error}"
        if isinstance(record, str):
            (folder / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
        else:
            torch.save(record, folder / f"{name}.pt")
        gc.collect()
        print(name, record if isinstance(record, str) else "ran", flush=True)


def _run_model(build: Build, sizes: tuple[int, ...], largest: float) -> dict[str, Any] | str:
    parameters = _size(build)
    if parameters > largest * 1e6:
        return f"skipped: {parameters / 1e6:.0f} million parameters"
    torch.manual_seed(0)
    model = build().train()
    images = torch.randn(sizes, requires_grad=True)
    with Recorder(KEPT) as recorder:
        outputs = list(_tensors(model(images)))
        weights = [torch.linspace(-1, 1, output.numel()).reshape(output.shape) + 0.1 for output in outputs]
        torch.stack([(output * weight).sum() for output, weight in zip(outputs, weights, strict=True)]).sum().backward()
    return recorder.record()


def _size(build: Build) -> int:
    """The number of parameters, found without memory for them where the model can be built so."""
    try:
        with torch.device("meta"):
            model = build()
    except (NotImplementedError, RuntimeError):  # it looks at values while it is built
        model = build()
    return sum(parameter.numel() for parameter in model.parameters())


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The floating-point tensors in what a model returned: a tensor, a tuple or a dict of such."""
    if isinstance(value, torch.Tensor):
        yield from (value,) if value.is_floating_point() else ()
    else:
        for part in value.values() if isinstance(value, Mapping) else value or ():
            yield from _tensors(part)


def compared(before: Path, after: Path) -> Iterator[tuple[str, str]]:
    """Each model's name with "same", "skipped ...", or what became different."""
    for path in sorted(before.iterdir()):
        other = after / path.name
        if not other.exists():
            yield path.stem, f"differs: {_outcome(path)} before, {_outcome(after / _twin(path.name))} after"
        elif path.suffix == ".json":
            same = path.read_text("utf-8") == other.read_text("utf-8")
            yield path.stem, _outcome(path) if same else f"differs: {_outcome(path)} before, {_outcome(other)} after"
        else:
            result = compare(torch.load(path, weights_only=True), torch.load(other, weights_only=True))
            first = result.first
            yield path.stem, "same" if first is None else f"differs: {first.where} {first.what}"


def _twin(name: str) -> str:
    return name.removesuffix(".pt") + ".json" if name.endswith(".pt") else name.removesuffix(".json") + ".pt"


def _outcome(path: Path) -> str:
    if path.suffix == ".pt":
        return "ran"
    return str(json.loads(path.read_text("utf-8"))) if path.exists() else "nothing"


def main() -> int:
    """0 when every model that ran before gives the same bits after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="torchvision", choices=sorted(PACKAGES))
    parser.add_argument("--models", default="", help="parts of names, separated by commas (default: all)")
    parser.add_argument("--policy", default="all")
    parser.add_argument("--below", default="", help="rewrite only this folder of the package (default: all of it)")
    parser.add_argument("--safe-only", action="store_true", help="leave out fixes that rest on an assumption")
    parser.add_argument("--largest", type=float, default=100.0, help="skip models of more million parameters")
    parser.add_argument("--import", dest="first", default="", help="a module to import before the package")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = [part for part in options.models.split(",") if part]
    if options.first:
        importlib.import_module(options.first)
    if options.into:
        run_models(options.package, wanted, options.largest, options.into)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        return _before_and_after(Path(scratch), options)


def _before_and_after(scratch: Path, options: argparse.Namespace) -> int:
    spec = importlib.util.find_spec(options.package)
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit(f"{options.package} is not installed")
    source = Path(spec.submodule_search_locations[0])
    copy = scratch / "site" / options.package
    shutil.copytree(source, copy, ignore=IGNORED)
    libraries = source.with_name(f"{options.package}.libs")  # what a wheel's extension modules are linked with
    if libraries.exists():
        shutil.copytree(libraries, copy.with_name(libraries.name))
    again = [word for word in sys.argv[1:] if word != "--into"]
    results = []
    for name, path in (("before", ""), ("after", f"{scratch / 'site'}{os.pathsep}")):
        if name == "after":
            print(report(rewrite(copy / options.below, options.policy, unsafe=not options.safe_only), most=10))
        results.append(scratch / name)
        results[-1].mkdir()
        environment = {**os.environ, "PYTHONPATH": path + os.environ.get("PYTHONPATH", "")}
        subprocess.run([sys.executable, __file__, *again, "--into", str(results[-1])], env=environment, check=True)
    verdicts = dict(compared(*results))
    for name, verdict in verdicts.items():
        print(f"{name:32} {verdict}")
    different = sum(verdict.startswith("differs") for verdict in verdicts.values())
    same = sum(verdict == "same" for verdict in verdicts.values())
    print(f"{same} same bit for bit, {different} different, {len(verdicts) - same - different} not run")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
