#!/usr/bin/env python3
"""Reruns of one program under a sampling profiler, for tests of gates: reruns.py NUMBER [--slower FUNCTION FACTOR]

A fixed tree of calls has a fixed share of time for each stack. A rerun differs from another one as reruns do: the length of the
run, the share of each stack (caches, scheduling), and the stacks that samples happen to hit. Prints folded stacks. The same
arguments give the same bytes: the only source of randomness is random.Random(n).random(), which is the same in all versions of
Python.
"""
import collections
import math
import random
import sys

STACKS = 150         # distinct stacks of the program
FUNCTIONS = 60       # functions f0 to f59 below main
SAMPLES = 10000      # mean number of samples of a run
RUN_NOISE = 0.02     # standard deviation of a run's length, relative
SHARE_NOISE = 0.03   # of the share of a stack, relative


def normal(rng):
    """A number of standard deviation 1 (sum of twelve uniform ones)."""
    return sum(rng.random() for _ in range(12)) - 6


def program():
    """Stacks and their shares: Zipf's law, so that few functions are large and many are small."""
    rng = random.Random(2024)
    stacks = {}
    while len(stacks) < STACKS:
        depth = 1 + int(6 * rng.random())
        names = tuple(f"f{int(FUNCTIONS * rng.random() ** 2)}" for _ in range(depth))
        stacks.setdefault(("main",) + names, 1 / (len(stacks) + 2))
    whole = sum(stacks.values())
    return {stack: share / whole for stack, share in stacks.items()}


def rerun(number, slower=None, factor=1.0):
    """Samples by stack. slower: this function, with what it calls, takes `factor` times as long."""
    rng = random.Random(number)
    stacks = program()
    samples = SAMPLES * (1 + RUN_NOISE * normal(rng))
    shares = {stack: share * math.exp(SHARE_NOISE * normal(rng)) for stack, share in stacks.items()}
    whole = sum(shares.values())
    times = {stack: share / whole * (factor if slower in stack else 1) for stack, share in shares.items()}
    ends, end = [], 0.0
    for stack, time in times.items():
        end += time
        ends.append((end, stack))
    counts = collections.Counter()
    for _ in range(round(samples * end)):
        at, low, high = rng.random() * end, 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if at < ends[middle][0] else (middle + 1, high)
        counts[ends[low][1]] += 1
    return counts


def folded(counts):
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in counts.items())


def main():
    more = sys.argv[2:]
    if len(sys.argv) < 2 or (more and (len(more) != 3 or more[0] != "--slower")):
        sys.exit(__doc__)
    sys.stdout.write(folded(rerun(int(sys.argv[1]), more[1], float(more[2])) if more else rerun(int(sys.argv[1]))))


if __name__ == "__main__":
    main()
