"""Windows of flame graphs as the library makes them for `pcol view`, `flame` and `tree`, of a million samples on 100,000 stacks (--quick:
100,000 on 10,000) and of Rprof text with deep stacks, 250 MB (25 MB): CPU time of bench/window in one process, and its memory. Goals are
those of the project."""
import re
import subprocess

from harness import DATA, MB, PCOL, generated, pack_command, program, row

# Step of bench/window, name, what, goal in ms of CPU time.
STEPS = (("flame", "again", "a window of the flame graph, after the first", 10),
         ("flame, zoomed 20 times, first", "zoomed", "a window at another zoom", 10),
         ("inverted, first", "inverted", "the first window of the bottom-up tree", 300),
         ("callers, first", "callers", "the first window of the callers of a function", 300))


def inputs(quick):
    scale = 10 if quick else 1
    DATA.mkdir(parents=True, exist_ok=True)
    wide, deep = DATA / "window.pcol", DATA / "window-deep.pcol"
    subprocess.run([program("gen_scale"), "--samples", str(1_000_000 // scale), "--stacks", str(100_000 // scale), wide], check=True)
    text = generated(f"window-{scale}.Rprof", "gen_rprof", "--bytes", 250 * MB // scale)
    subprocess.run(pack_command(text, deep, "-q"), check=True)
    text.unlink()
    return ("", wide), (".deep", deep)


def measure(options):
    for name, packed in inputs(options.quick):
        text = subprocess.run([program("window"), packed], check=True, capture_output=True, text=True).stdout
        count = subprocess.run([PCOL, "count", packed], check=True, capture_output=True, text=True).stdout.split()[0]
        packed.unlink()
        # "     0.065  flame                              3716"
        found = {step: (float(ms), int(number)) for ms, step, number in re.findall(r"^ *([\d.]+)  (\S.*?) +(\d+)$", text, re.M)}
        nodes = found["query and view"][1]
        for step, key, what, goal in STEPS:
            ms = found[step][0]
            yield row(f"window.{key}{name}", f"{what}, {int(count):,} samples, {nodes:,} nodes", round(ms, 3), "the goal", goal, ms / goal, "ms")
        peak, most = float(re.search(r"([\d.]+)  MB of resident", text)[1]), 64 + 40 * nodes / 2**20
        yield row(f"window.memory{name}", f"memory of all views of {nodes:,} nodes, and of lanes", peak, "64 MiB and 40 B a node", round(most, 1),
                  peak / most, "MiB")
