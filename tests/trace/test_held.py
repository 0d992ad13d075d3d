"""Values that somebody still holds when an in-place flag overwrites them."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import trace


@pytest.mark.parametrize(
    ("body", "read"),
    [
        pytest.param(
            """
            branch = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))

            def forward(x):
                out = branch(x)
                out = out + x
                return out

            forward(torch.rand(2, 3, requires_grad=True) * 1)
            """,
            "out + x",
            id="a name",
        ),
        pytest.param(
            """
            features = []
            layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True), nn.Linear(3, 1))
            layers[0].register_forward_hook(lambda module, args, output: features.append(output))

            def loss(x):
                layers(x)
                return features[0].sum()

            loss(torch.rand(2, 3))
            """,
            "features[0].sum()",
            id="a list",
        ),
    ],
)
def test_a_value_read_after_a_flag_overwrote_it_is_named_by_its_module(body: str, read: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, body)
    assert seen.kinds == ["held-value"]
    assert seen.text(seen.write().made_at) == "nn.ReLU(inplace=True)"
    assert [seen.text(place) for _, place in seen.faults[0].related] == [read]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
            relu = nn.ReLU(inplace=True)

            def forward(x):
                x = relu(x)
                y = x * 2
                return relu(x + y)

            forward(torch.rand(2, 3, requires_grad=True) * 1)
            """,
            id="the name is bound to the result",
        ),
        pytest.param(
            """
            relu = nn.ReLU(inplace=True)

            def block(x):
                out = x * 2
                out += x
                return relu(out)

            x = torch.rand(2, 3)
            for _ in range(3):
                x = block(x)
            """,
            id="the result is returned",
        ),
        pytest.param(
            """
            outputs = []
            relu = nn.ReLU(inplace=True)

            def forward(x):
                x = relu(x)
                outputs.append(x)
                return x

            forward(torch.rand(2, 3))
            total = outputs[0].sum()
            """,
            id="kept after the write",
        ),
    ],
)
def test_ordinary_layers_are_left_alone(body: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    assert seen.faults == ()
