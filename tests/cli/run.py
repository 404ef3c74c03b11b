#!/usr/bin/env python3
"""Run the command line expectation tests: all tests/cli/*.test, or the given files

A .test file is a list of cases. They run in order in one new directory:

    # a comment; blank lines are ignored
    $ pcol count --table samples "$DATA"/rprof/plain.Rprof
    > | cat -n                        continues the command
         1	308                       expected stdout
    ! pcol count: ...                 expected stderr; default: none
    ? 3                               expected exit code; default: 0
    % no newline                      stdout has no line end at its end
    % not asan                        before a case: skip it in this variant

`...` in an expected line matches any text, a line `...` any number of lines. A backslash precedes an expected stdout line that is
empty or begins like one of these marks (`\\`, `\\# text`, `\\$ x`).

A shell (sh) of its own runs each command, so that its functions and variables end with it: with `pcol` and the helpers of
tests/cli/bin on its PATH, empty stdin, LC_ALL=C.UTF-8, TZ=UTC and the variables DATA (`data`, a link to tests/data in the test's
directory, so that no output depends on the path of the sources), SRC (the sources), EXAMPLES (the built example programs) and
VARIANT. In the output, `$TMP` and `$SRC` replace the paths of the test's directory and of the sources.

The last line is "N passed, N failed"; the exit code is 1 after any failure.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE.parent.parent
MARKED = re.compile(r"\$ |> |!|\? \d|#|%|\\|$")
ENCODING = {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}


class Case:
    def __init__(self, before, line):
        self.before, self.line = before, line  # lines before the command; its line number
        self.command, self.expected = [], []   # raw lines of the file
        self.stdout, self.stderr = [], []
        self.exit, self.newline, self.skip = 0, True, set()

    def script(self):
        return "\n".join(text[2:] for text in self.command)

    def parse_expected(self):
        for text in self.expected:
            if text.startswith("\\"):
                self.stdout.append(text[1:])
            elif text.startswith("! ") or text == "!":
                self.stderr.append(text[2:])
            elif re.fullmatch(r"\? \d+", text):
                self.exit = int(text[2:])
            elif text == "% no newline":
                self.newline = False
            else:
                self.stdout.append(text)


def parse(path):
    cases, before, in_command, open_case = [], [], False, False
    lines = path.open(**ENCODING).read().split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    for number, text in enumerate(lines, 1):
        if text.startswith("$ "):
            case = Case(before, number)
            case.command.append(text)
            for mark in before:
                if mark.startswith("% not "):
                    case.skip.update(mark[6:].split())
            cases.append(case)
            before, in_command, open_case = [], True, True
        elif text.startswith("> ") and in_command:
            cases[-1].command.append(text)
        elif text == "" or text.startswith("#") or text.startswith("% not "):
            before.append(text)
            in_command = open_case = False
        elif not open_case:
            raise ValueError(f"{path.name}:{number}: expected output without a command before it")
        else:
            in_command = False
            cases[-1].expected.append(text)
    for case in cases:
        case.parse_expected()
    return cases, before


def line_matches(pattern, text):
    if "..." not in pattern:
        return pattern == text
    return re.fullmatch(".*".join(map(re.escape, pattern.split("..."))), text, re.DOTALL) is not None


def matches(patterns, lines):
    """Glob matching of lines with `...` as star: backtracks to the last star only."""
    at, line, star, mark = 0, 0, None, 0
    while line < len(lines):
        if at < len(patterns) and patterns[at] == "...":
            star, mark = at, line
            at += 1
        elif at < len(patterns) and line_matches(patterns[at], lines[line]):
            at += 1
            line += 1
        elif star is not None:
            mark += 1
            at, line = star + 1, mark
        else:
            return False
    return all(pattern == "..." for pattern in patterns[at:])


def keep_patterns(patterns, lines):
    """The lines, but for each line that a pattern with `...` matches, in order, the pattern."""
    kept, at = [], 0
    for line in lines:
        found = next((k for k in range(at, len(patterns)) if patterns[k] != "..." and line_matches(patterns[k], line)), None)
        at = at if found is None else found + 1
        kept.append(line if found is None else patterns[found])
    return kept


def to_lines(data, places):
    text = data.decode("utf-8", "surrogateescape")
    for path, name in places:
        text = text.replace(path, name)
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    return lines, ended


def written(stdout, stderr, code, ended):
    out = ["\\" + text if MARKED.match(text) else text for text in stdout]
    if stdout and not ended:
        out.append("% no newline")
    out += [("! " + text) if text else "!" for text in stderr]
    if code:
        out.append(f"? {code}")
    return out


def run_command(script, directory, env, seconds):
    child = subprocess.Popen(["sh", "-c", script], cwd=directory, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=seconds)
        return out, err, child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return out, err + f"\ntimed out after {seconds} s\n".encode(), 124


def has_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def run_file(path, options):
    """Run a file; returns passed, failed and the text to print. Rewrites the file with --update."""
    try:
        cases, tail = parse(path)
    except ValueError as fault:
        return 0, 1, f"FAIL {fault}\n"
    passed, failed, report = 0, 0, []
    home = pathlib.Path(tempfile.mkdtemp(prefix="pcol-cli-"))
    work, programs, logs = home / "work", home / "bin", home / "logs"
    for folder in (work, programs, logs):
        folder.mkdir()
    (programs / "pcol").symlink_to(options.pcol)
    (work / "data").symlink_to(SRC / "tests/data")
    env = {key: value for key, value in os.environ.items()
           if key in ("LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "CC")}
    env |= {"PATH": f"{programs}:{HERE / 'bin'}:{os.environ['PATH']}", "HOME": str(work), "TMPDIR": str(work),
            "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", "DATA": "data", "SRC": str(SRC),
            "EXAMPLES": str(options.examples), "VARIANT": options.variant,
            "ASAN_OPTIONS": f"log_path={logs}/log:exitcode=99:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1"}
    places = [(str(work), "$TMP"), (str(SRC), "$SRC")]
    for case in cases:
        if options.variant in case.skip or any(word in case.script() for word in options.lacking):
            continue
        out, err, code = run_command(case.script(), work, env, options.timeout)
        stdout, ended = to_lines(out, places)
        stderr, _ = to_lines(err, places)
        problems = sorted(logs.iterdir())
        good = (matches(case.stdout, stdout) and matches(case.stderr, stderr) and code == case.exit
                and (ended == case.newline or not stdout) and not problems)
        if good:
            passed += 1
            continue
        failed += 1
        actual = written(keep_patterns(case.stdout, stdout), keep_patterns(case.stderr, stderr), code, ended)
        report.append(f"FAIL {path.name}:{case.line}: {case.script()}")
        report += list(difflib.unified_diff(case.expected, actual, "expected", "actual", lineterm=""))[2:]
        for log in problems:
            report.append(log.read_text(errors="replace"))
            log.unlink()
        case.expected = actual
    if options.update and failed:
        lines = [line for case in cases for line in case.before + case.command + case.expected] + tail
        path.open("w", **ENCODING).write("".join(line + "\n" for line in lines))
        report.append(f"{path.name}: {failed} cases rewritten")
    shutil.rmtree(home, ignore_errors=True)
    return passed, failed, "".join(line + "\n" for line in report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--pcol", type=pathlib.Path, default=os.environ.get("PCOL") or SRC / "build/pcol",
                        help="the program under test (default: $PCOL, else build/pcol)")
    parser.add_argument("--examples", type=pathlib.Path, help="folder of the example programs")
    parser.add_argument("--variant", default=os.environ.get("VARIANT", "release"))
    parser.add_argument("--update", action="store_true", help="write what the program does into the failing cases")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one case")
    options = parser.parse_args()
    options.pcol = pathlib.Path(options.pcol).resolve()
    options.examples = (options.examples or options.pcol.parent / "examples").resolve()
    if not os.access(options.pcol, os.X_OK):
        sys.exit(f"{options.pcol}: no such program; build it first, or name one with --pcol")
    sys.stdout.reconfigure(errors="surrogateescape")
    files = options.files or sorted(HERE.glob("*.test"))
    options.lacking = []
    if not has_terminals():
        options.lacking.append("on-tty")
        print("skipped: the cases that need a terminal; is /dev/pts mounted?")
    if not options.examples.is_dir():
        options.lacking.append("$EXAMPLES")
        print(f"skipped: the cases that run examples, there is no {options.examples}: make examples")
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for good, bad, text in pool.map(lambda path: run_file(path, options), files):
            passed, failed = passed + good, failed + bad
            sys.stdout.write(text)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
