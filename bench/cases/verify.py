"""Cost of verifying checksums, in CPU time within a process (build/bench/verify FILE): open and read a file, alternating with and
without PCOL_OPEN_UNVERIFIED; 145 million samples on 10 million stacks, 0.97 GB packed, and 3 million on 300,000, 1.1 GB plain
(--quick: a million samples packed, 100,000 plain). Ratios are verified to unverified; the goal for commands on packed files is
1.08."""
import subprocess

from harness import DATA, Missing, program, row, timed


def measure(options):
    DATA.mkdir(parents=True, exist_ok=True)
    sizes = {"packed": (145_000_000, 10_000_000), "plain": (3_000_000, 300_000)}
    for kind, (samples, stacks) in sizes.items():
        if options.quick:
            samples, stacks = (1_000_000, 100_000) if kind == "packed" else (100_000, 10_000)
        path = DATA / f"verify-{kind}.pcol"
        flags = ["--plain"] if kind == "plain" else []
        timed([program("gen_scale"), "--samples", samples, "--stacks", stacks, *flags, path])
        try:
            done = subprocess.run([program("verify"), path], capture_output=True, text=True)
        finally:
            path.unlink()
        if done.returncode != 0:
            raise Missing(f"verify failed: {done.stderr.strip()[:200]}")
        for line in done.stdout.splitlines():
            verified, unverified, what = line.split(" ", 2)
            verified, unverified = float(verified) * 1000, float(unverified) * 1000
            yield row(f"verify.{kind}.{what.replace(' ', '_')}", f"{what}, {kind}, {samples:,} samples", round(verified, 2), "unverified",
                      round(unverified, 2), verified / unverified, "ms", runs=5)
