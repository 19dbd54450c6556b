#!/usr/bin/env python3
"""Serves requests with a small language model, on the CPU. Requests wait in a queue, and each step of the engine adds a token to every
running request. A cache stores the keys and values of earlier tokens. The weights are random, so nothing is downloaded.

    serving.py [--fixed]

The engine has a mistake: it keeps the cache of each finished request. With --fixed it does not.
"""
import collections
import contextlib
import sys

import msleaks
import torch
from torch import nn

FIXED = "--fixed" in sys.argv[1:]
REQUESTS, MOST_RUNNING, PROMPT, ANSWER = 24, 8, 64, 6
SIZE, LAYERS, WORDS = 256, 2, 1000


class MsleaksObserver:
    """Reports the steps of an engine, the phases of each step, and the owner of the cache. The engine calls these methods."""

    def step_begins(self, number):
        msleaks.step(number)

    @contextlib.contextmanager
    def phase(self, name):
        with msleaks.range(name), msleaks.owner("engine@" + name):
            yield

    def cache_grows(self):
        return msleaks.owner("engine@kv-cache")

    def request_ends(self):
        msleaks.mark("request ends")


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key_value, self.out = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, 2 * SIZE), nn.Linear(SIZE, SIZE)

    def forward(self, hidden, cache):
        keys, values = cache.add(self, self.key_value(hidden)).chunk(2, dim=-1)
        weights = (self.query(hidden) @ keys.T / SIZE**0.5).softmax(dim=-1)
        return hidden + self.out(weights @ values)


class Cache:
    """The keys and values of one request, for each layer."""

    def __init__(self, observer):
        self.observer, self.entries = observer, {}

    def add(self, layer, new):
        with self.observer.cache_grows():
            self.entries[layer] = torch.cat([*([self.entries[layer]] if layer in self.entries else []), new])
        return self.entries[layer]


class Request:
    def __init__(self, number, observer):
        self.number, self.tokens, self.fresh = number, torch.randint(WORDS, (PROMPT,)), PROMPT
        self.cache = Cache(observer)

    def is_done(self):
        return len(self.tokens) == PROMPT + ANSWER


class Engine:
    def __init__(self, observer):
        self.observer, self.finished_caches, self.steps = observer, {}, 0
        self.waiting, self.running = collections.deque(), []
        with msleaks.owner("engine@weights"):
            self.embedding, self.layers = nn.Embedding(WORDS, SIZE), nn.ModuleList(Layer() for _ in range(LAYERS))

    def next_token(self, request):
        hidden = self.embedding(request.tokens[-request.fresh:])
        for layer in self.layers:
            hidden = layer(hidden, request.cache)
        request.tokens = torch.cat([request.tokens, (hidden[-1:] @ self.embedding.weight.T).argmax(dim=-1)])
        request.fresh = 1

    def step(self):
        self.observer.step_begins(self.steps)
        self.steps += 1
        if self.waiting and len(self.running) < MOST_RUNNING:
            self.running.append(self.waiting.popleft())
        for request in self.running:
            with self.observer.phase("prefill" if request.fresh > 1 else "decode"):
                self.next_token(request)
        for request in [request for request in self.running if request.is_done()]:
            self.running.remove(request)
            self.observer.request_ends()
            if not FIXED:
                self.finished_caches[request.number] = request.cache


@torch.no_grad()
def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    observer = MsleaksObserver()
    engine = Engine(observer)
    engine.waiting.extend(Request(number, observer) for number in range(REQUESTS))
    while engine.waiting or engine.running:
        engine.step()
    print(f"{REQUESTS} requests in {engine.steps} steps")


if __name__ == "__main__":
    main()
