"""The page of `pcol report` in a headless Chromium, with a million samples on 100,000 stacks (--quick: 100,000 on 10,000): time until
the first graph is drawn and memory of the renderer, against speedscope 1.25.0 with the same profile, or a fifth of it if speedscope does
not open it; frames while zooming, panning and brushing; another selection; and the sizes of the page and of the file. Goals are those of
the project."""
import base64
import json
import re
import statistics
import subprocess

from harness import DATA, MB, MODULES, PCOL, ROOT, Missing, missing, program, row, tool

PACKAGES = ("playwright-core@1.65.1", "speedscope@1.25.0")


def modules():
    """Installed once, next to DuckDB's."""
    if not all((MODULES / "node_modules" / name.rsplit("@", 1)[0]).exists() for name in PACKAGES):
        MODULES.mkdir(parents=True, exist_ok=True)
        subprocess.run([tool("npm"), "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(MODULES), *PACKAGES], capture_output=True,
                       timeout=300)
    return MODULES


def driven(kind, page):
    done = subprocess.run([tool("node"), ROOT / "bench/report.mjs", modules(), tool("chromium"), kind, page], capture_output=True, text=True,
                          timeout=600)
    if done.returncode != 0:
        reason = re.search(r"^\w[\w.]*: .*", done.stderr, re.M) # "page.goto: Page crashed"
        raise Missing(f"{kind} in Chromium failed: {reason[0] if reason else done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def inputs(samples, stacks):
    """The report, speedscope's page with the same profile, and the size of the archive."""
    packed, archive = DATA / "report.pcol", DATA / "report-archive.pcol"
    html, text = DATA / "report.html", DATA / "report.speedscope.json"
    DATA.mkdir(parents=True, exist_ok=True)
    subprocess.run([program("gen_scale"), "--samples", str(samples), "--stacks", str(stacks), packed], check=True)
    for command in (["pack", packed, "--archive", "-o", archive], ["report", packed, "-o", html],
                    ["unpack", packed, "--to", "speedscope", "-o", text]):
        subprocess.run([PCOL, *command, "-f", "-q", "--no-sync"], check=True)
    script = DATA / "report.speedscope.js"
    script.write_text(f"speedscope.loadFileFromBase64('p.json', '{base64.b64encode(text.read_bytes()).decode()}')")
    text.unlink()
    return html, script, archive.stat().st_size


def delete(*paths):
    for path in (DATA / "report.pcol", DATA / "report-archive.pcol", *paths):
        path.unlink()


def median(key, of):
    return statistics.median(run[key] for run in of)


def opened(html, script, runs):
    """Results of the page and of speedscope in turns, and why speedscope has none."""
    peer = modules() / "node_modules/speedscope/dist/release/index.html"
    ours, theirs, reason = [], [], None if peer.exists() else "speedscope is missing"
    for turn in range(runs):
        ours.append(driven("pcol", html))
        if turn < 2 and reason is None:
            try:
                theirs.append(driven("speedscope", f"{peer}#localProfilePath={script}"))
            except Missing as failure:
                reason = str(failure)
    return ours, theirs, reason


def against(name, what, ours, theirs):
    yield row(f"report.open{name}", f"open to first drawn, {what}", round(median("open", ours)), "speedscope", round(median("open", theirs)),
              median("open", theirs) / median("open", ours), "ms", runs=len(theirs))
    yield row(f"report.memory{name}", f"memory of the renderer then, {what}", round(median("memory", ours) / MB), "speedscope",
              round(median("memory", theirs) / MB), median("memory", ours) / median("memory", theirs), "MB", runs=len(theirs))


def measure(options):
    samples, stacks = (100_000, 10_000) if options.quick else (1_000_000, 100_000)
    html, script, archive = inputs(samples, stacks)
    ours, theirs, reason = opened(html, script, min(3, options.runs))
    runs = len(ours)
    what = f"{samples:,} samples on {stacks:,} stacks"
    if theirs:
        yield from against("", what, ours, theirs)
    else:
        yield missing("report.open", f"open to first drawn, {what}", reason)
    yield row("report.open.goal", "open to first drawn", round(median("open", ours)), "the goal", 2000, median("open", ours) / 2000, "ms", runs=runs)

    def every(key):
        return sorted(value for run in ours for value in run[key])

    gaps = every("gaps")
    yield row("report.frames", "between frames while zooming, panning and brushing, median", round(statistics.median(gaps), 1), "the goal", 17,
              statistics.median(gaps) / 17, "ms", runs=runs)
    p95 = gaps[len(gaps) * 95 // 100]
    yield row("report.frames.p95", "the same, 95th percentile", round(p95, 1), "the goal", 50, p95 / 50, "ms", runs=runs)
    for key, text in (("selections", "another range of time, until drawn"), ("searches", "another search"), ("labels", "another thread")):
        value = statistics.median(every(key))
        yield row(f"report.{key}", text, round(value), "the goal", 150, value / 150, "ms", runs=runs)
    text = re.sub(r'<script type="text/plain" id="data".*?</script>', "", html.read_text(), flags=re.S)
    page = len(re.sub('<div id="static">.*?</div>', "", text, flags=re.S).encode())
    yield row("report.page", "page without data and static part", round(page / 1000), "the goal", 200, page / 200_000, "KB", runs=0)
    yield row("report.size", "the file", round(html.stat().st_size / MB, 2), "1.4 x archive and the page", round((1.4 * archive + page) / MB, 2),
              html.stat().st_size / (1.4 * archive + page), "MB", runs=0)
    delete(html, script)
    if not theirs and reason != "speedscope is missing":
        html, script, _ = inputs(samples // 5, stacks // 5)
        ours, theirs, reason = opened(html, script, 2)
        what = f"{samples // 5:,} samples on {stacks // 5:,} stacks"
        if theirs:
            yield from against(".fifth", what, ours, theirs)
        else:
            yield missing("report.open.fifth", f"open to first drawn, {what}", reason)
        delete(html, script)
