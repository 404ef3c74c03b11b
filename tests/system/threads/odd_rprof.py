#!/usr/bin/env python3
"""odd_rprof.py SEED KIND OUT - 3 MB of Rprof text that is difficult to split into independent parts

KIND: files     #File lines throughout, reused numbers, references to later or missing numbers
      names     names with line ends, whose lines look like samples; some are not closed within a part
      headers   several segments, with different columns and line ends
      numbers   memory columns in unusual spelling, and lines of memory columns alone
"""
import random
import sys


def main():
    seed, kind, out = sys.argv[1:]
    dice = random.Random(f"{seed} {kind}")
    lines = ["memory profiling: line profiling: sample.interval=20000"]
    names = [f"f{i}" for i in range(200)]
    if kind == "names":
        names += ['a\n"b" "c" ', 'x\n"y', "\n", "p\n\n1#2 \"q\" "]
    size, ending, columns = 0, "\n", True
    stack = []
    with open(out, "wb") as file:
        while size < 3_000_000:
            if kind == "files" and dice.random() < 0.001:
                lines.append(f"#File {dice.randrange(1, 9)}: dir/{dice.randrange(20)}.R")
            if kind == "headers" and dice.random() < 0.0002:
                ending = dice.choice(("\n", "\r\n"))
                columns = dice.random() < 0.5
                lines.append(("memory profiling: " if columns else "") + dice.choice(("", "line profiling: ")) + "sample.interval=10000")
            stack = stack[:dice.randrange(len(stack) + 1)]
            for _ in range(dice.randrange(6)):
                name = names[-1 - dice.randrange(4)] if kind == "names" and dice.random() < 0.01 else dice.choice(names[:200])
                stack.append((f"{dice.randrange(1, 9)}#{dice.randrange(50)} " if dice.random() < 0.3 else "") + f'"{name}" ')
            numbers = [str(dice.randrange(10 ** dice.randrange(1, 9))) for _ in range(4)]
            if kind == "numbers" and dice.random() < 0.001:
                numbers[dice.randrange(4)] = dice.choice(("007", "-3", "99999999999999999999"))
            memory = ":" + ":".join(numbers) + ":" if columns else ""
            alone = kind == "numbers" and dice.random() < 0.05
            lines.append(memory + ("" if alone else "".join(reversed(stack)) or '"top" '))
            text = "".join(line + ending for line in lines).encode()
            size += file.write(text)
            lines = []


main()
