"""A little residual network that reads an image and pools its patches by attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super(ResidualBlock, self).__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        out += x
        return out


class AttentionPool(nn.Module):
    """Weighs the patches of a feature map; patches that see nothing are left out."""

    def __init__(self, channels):
        super(AttentionPool, self).__init__()
        self.score = nn.Linear(channels, 1)

    def forward(self, features):
        patches = features.flatten(2).transpose(1, 2)
        weights = F.softmax(self.score(patches).squeeze(2), dim=1)
        blank = patches.detach().abs().mean(dim=2) < 0.05
        weights.masked_fill_(blank, 0.0)
        return torch.bmm(weights.unsqueeze(1), patches).squeeze(1)


class Net(nn.Module):
    def __init__(self, classes, channels=8):
        super(Net, self).__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
        )
        self.blocks = nn.Sequential(ResidualBlock(channels), ResidualBlock(channels))
        self.pool = AttentionPool(channels)
        self.head = nn.Sequential(
            nn.Linear(channels, 16),
            nn.ReLU(inplace=True),
            nn.Dropout(0.2, inplace=True),
            nn.Linear(16, classes),
        )
        self.register_buffer('seen', torch.zeros(1))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode='fan_out', nonlinearity='relu')
            elif isinstance(module, nn.BatchNorm2d):
                module.weight.data.fill_(1)
                module.bias.data.zero_()

    def forward(self, x):
        self.seen += x.size(0)
        # this one is right: a product with a number keeps nothing for backward
        x = x * 2.0
        x.add_(-0.5)
        x = self.blocks(self.stem(x))
        return self.head(self.pool(x))
