"""Trains the network with plain SGD, written out, and keeps an average of its weights."""

import argparse
import copy

import torch

from data import batches, make_images, normalize
from losses import accuracy, focal_loss
from model import Net


def sgd_step(model, learning_rate, weight_decay):
    for p in model.parameters():
        if p.grad is None:
            continue
        p.grad.data.add_(weight_decay, p.data)
        p.grad.data.clamp_(-1, 1)
        p -= learning_rate * p.grad


def update_average(average, model, decay=0.9):
    with torch.no_grad():
        for kept, current in zip(average.parameters(), model.parameters()):
            kept.mul_(decay).add_(current, alpha=1 - decay)


def train(epochs=2, batch_size=16, learning_rate=0.1, seed=0):
    torch.manual_seed(seed)
    images, labels = make_images(64)
    images = normalize(images)
    model = Net(classes=4)
    average = copy.deepcopy(model)
    history = []
    for epoch in range(epochs):
        running = torch.zeros(1)
        steps = 0
        for batch, target in batches(images, labels, batch_size):
            model.zero_grad()
            logits = model(batch)
            loss = focal_loss(logits, target)
            loss.backward()
            sgd_step(model, learning_rate, weight_decay=1e-4)
            update_average(average, model)
            running += loss.detach()
            steps += 1
        running /= steps
        history.append(running.item())
        print('epoch %d: loss %.4f, accuracy of the last batch %.2f'
              % (epoch + 1, running.item(), accuracy(logits, target)))
    return model, average, history


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=2)
    train(epochs=parser.parse_args().epochs)
