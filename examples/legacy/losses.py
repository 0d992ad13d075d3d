"""Focal loss over a softmax written out by hand."""

import torch


def softmax(logits):
    shifted = logits - logits.max(dim=1, keepdim=True)[0].detach()
    exp = torch.exp(shifted)
    exp /= exp.sum(dim=1, keepdim=True)
    return exp


def focal_loss(logits, labels, gamma=2.0):
    probabilities = softmax(logits)
    picked = probabilities.gather(1, labels.view(-1, 1)).squeeze(1)
    picked = picked.clamp(min=1e-6)
    loss = -(1 - picked) ** gamma * picked.log()
    return loss.mean()


def accuracy(logits, labels):
    correct = torch.zeros(len(labels))
    correct[logits.argmax(dim=1) == labels] = 1.0
    return correct.mean().item()
