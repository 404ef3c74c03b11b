"""How soon a long call can be cancelled: the longest time between two calls of progress (by the clock, or CPU time if less), against the
goal of 50 ms. build/bench/cancel imports, writes, checks, queries, reads and exports the inputs of the case importers, 10 MB of each format
(--quick: 1 MB); a row is the worst input of a kind of call. An input with a call above the goal runs three times; the median of each call
counts, since memory that the machine has not used before takes longer to get."""
import importlib.util
import pathlib
import statistics
import subprocess

from harness import MB, Missing, missing, program, row

GOAL_MS, RUNS = 50, 3
KINDS = {"import": "import", "write": "write", "check": "check", "array": "read a column", "export": "export"}


def importers():
    spec = importlib.util.spec_from_file_location("importers", pathlib.Path(__file__).with_name("importers.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls(name, path):
    """(longest ms, name of the call) of each call."""
    done = subprocess.run([program("cancel"), name, path], capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"cancel {name} {path.name}: {done.stderr.strip()[:200]}")
    for line in done.stdout.splitlines():
        longest, _, call = line.split(" ", 2)
        yield float(longest), call


def medians(name, path):
    runs = [list(calls(name, path))]
    if max(runs[0])[0] > GOAL_MS:
        runs += [list(calls(name, path)) for _ in range(RUNS - 1)]
    for same in zip(*runs, strict=True):
        yield statistics.median(longest for longest, _ in same), same[0][1], len(runs)


def measure(options):
    module = importers()
    worst = {}
    for name, what, path in module.inputs(module.suite_formats(), (1 if options.quick else 10) * MB):
        try:
            measured = list(medians(name, path))
        except Missing as reason:
            yield missing(f"cancel.{name}", f"{name}, {what}", reason)
            continue
        for longest, call, runs in measured:
            kind = KINDS.get(call.split(" ")[0].rstrip(","), "query")
            worst[kind] = max(worst.get(kind, (0, "", 1)), (longest, f"{call}, {name}, {what}", runs))
    for kind, (longest, where, runs) in worst.items():
        yield row(f"cancel.{kind.split()[0]}", f"between two calls of progress: {kind} ({where})", round(longest, 1), "the goal", GOAL_MS,
                  longest / GOAL_MS, "ms", runs=runs)
