"""Samples for modules that ``module_db`` has none for, or none that shows what matters: constructor, inputs.

Each is a pair of argument lists as Python text over the names of ``calls.scope``. The first sample of a module is the
ordinary one.
"""

from __future__ import annotations

SAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "AdaptiveLogSoftmaxWithLoss": (("8, 12, cutoffs=[4, 8]", "b[0, 0], torch.tensor([0, 5, 9, 3, 1, 7, 11, 2])"),),
    "AlphaDropout": (("", "x"),),
    "ChannelShuffle": (("2", "b[:, :2]"),),
    "CosineSimilarity": (("", "x, y"),),
    "CrossMapLRN2d": (("3", "b"),),
    "Dropout": (("", "x"),),
    "Dropout1d": (("", "b[0]"),),
    "Dropout2d": (("", "b"),),
    "Dropout3d": (("", "b[None]"),),
    "Embedding": (("5, 3", "i"), ("5, 3", "n % 5")),
    "EmbeddingBag": (("5, 3", "n % 5"), ("5, 3, mode='sum'", "n % 5"), ("5, 3, mode='max'", "n % 5")),
    "FeatureAlphaDropout": (("", "b"),),
    "Flatten": (("", "b"), ("", "x")),
    "Fold": (("(4, 5), (2, 2)", "torch.rand(2, 12, 12)"),),
    "Hardsigmoid": (("", "x"),),
    "Identity": (("", "x"),),
    "GRU": (("8, 4", "b[0]"),),
    "LSTM": (("8, 4", "b[0]"), ("8, 4, batch_first=True", "b[0]")),
    "MaxPool1d": (("2", "b[0]"),),
    "MaxPool2d": (("2", "b"),),
    "MaxPool3d": (("2", "b"),),
    "MaxUnpool1d": (("2", "*F.max_pool1d(b[0], 2, return_indices=True)"),),
    "MaxUnpool2d": (("2", "*F.max_pool2d(b, 2, return_indices=True)"),),
    "MaxUnpool3d": (("2", "*F.max_pool3d(b, 2, return_indices=True)"),),
    "MultiheadAttention": (("8, 2", "b[0], b[0], b[0]"), ("8, 2, batch_first=True", "b[0], b[0] + 1, b[0] + 2")),
    "NLLLoss2d": (("", "b, torch.zeros(2, 8, 8, dtype=torch.long)"),),
    "PairwiseDistance": (("", "x, y"),),
    "PixelShuffle": (("2", "torch.rand(2, 4, 3, 3)"),),
    "PixelUnshuffle": (("2", "b"),),
    "RNN": (("8, 4", "b[0]"),),
    "RReLU": (("", "x - 1"),),
    "TransformerEncoderLayer": (("8, 2, 16, batch_first=True", "b[0]"), ("8, 2, 16", "b[0]")),
    "TransformerDecoder": (("nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1", "b[0], b[0]"),),
    "TripletMarginLoss": (("", "x, y, y + 1"),),
    "TripletMarginWithDistanceLoss": (("", "x, y, y + 1"),),
    "Unflatten": (("1, (2, 2)", "x"),),
    "Unfold": (("2", "b"),),
    "Upsample": (("scale_factor=2", "b"), ("scale_factor=2, mode='bilinear'", "b")),
    "UpsamplingBilinear2d": (("scale_factor=2", "b"),),
    "UpsamplingNearest2d": (("scale_factor=2", "b"),),
}
