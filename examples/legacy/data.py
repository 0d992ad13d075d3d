"""Small synthetic images of bars in noise; the label says which way the bar lies and how thick it is."""

import torch


def make_images(count, size=12):
    images = torch.randn(count, 1, size, size) * 0.3
    labels = torch.randint(0, 4, (count,))
    for i in range(count):
        at = int(torch.randint(2, size - 3, (1,)))
        width = 1 if labels[i] < 2 else 2
        if labels[i] % 2 == 0:
            images[i, 0, at:at + width, :] += 1.5
        else:
            images[i, 0, :, at:at + width] += 1.5
    return images, labels


def normalize(images):
    # works on the loaded batch itself, as all our loaders do
    mean, std = images.mean(), images.std()
    images.sub_(mean).div_(std)
    return images


def batches(images, labels, batch_size):
    order = torch.randperm(len(images))
    for start in range(0, len(images), batch_size):
        picked = order[start:start + batch_size]
        yield images[picked], labels[picked]
