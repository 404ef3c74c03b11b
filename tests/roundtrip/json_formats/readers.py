#!/usr/bin/env python3
"""readers.py FILE - answers about a profile of speedscope, of V8 or a Chrome trace, by a reader that is independent of pcol

Written from the formats' own descriptions: speedscope's file-format-spec.ts, the DevTools protocol (Profiler.Profile,
HeapProfiler.SamplingHeapProfile), Chrome's trace event format. Prints for each sample type the sum of each stack, the times
of the samples, and the functions, one sorted line each.
"""
import collections
import json
import sys


class Answer:
    def __init__(self):
        self.sums = collections.defaultdict(lambda: collections.defaultdict(int))  # type -> stack -> sum
        self.times = []  # ns
        self.functions = set()  # (name, file, line, column)

    def add(self, kind, stack, value):
        self.sums[kind][";".join(stack)] += value

    def lines(self):
        for kind in sorted(self.sums):
            for stack, value in sorted(self.sums[kind].items()):
                if value:
                    yield f"{kind}\t{stack}\t{value:.10g}"
        for time in sorted(self.times):
            yield f"time\t{time}"
        for function in sorted(self.functions, key=str):
            yield "function\t" + "\t".join("" if x is None else str(x) for x in function)


UNITS = {"none": ("weight/count", 0), "bytes": ("weight/bytes", 0), "nanoseconds": ("time/nanoseconds", 1),
         "microseconds": ("time/microseconds", 10 ** 3), "milliseconds": ("time/milliseconds", 10 ** 6),
         "seconds": ("time/seconds", 10 ** 9)}


def half_up(x):
    return int(x) if isinstance(x, int) else int(x + 0.5) if x >= 0 else -int(0.5 - x)


def speedscope(document):
    answer = Answer()
    frames = document["shared"]["frames"]
    for f in frames:
        answer.functions.add((f["name"], f.get("file"), f.get("line"), f.get("col")))
    for profile in document["profiles"]:
        kind, ns = UNITS[profile["unit"]]
        rows = []
        if profile["type"] == "sampled":
            now = profile["startValue"]
            for stack, weight in zip(profile["samples"], profile["weights"]):
                rows.append((now, stack, weight))
                now += weight
        else:
            last, stack = None, []
            for event in profile["events"]:
                if stack and event["at"] > last:
                    rows.append((last, list(stack), event["at"] - last))
                last = event["at"]
                if event["type"] == "O":
                    stack.append(event["frame"])
                else:
                    assert stack.pop() == event["frame"]
        for start, stack, weight in rows:
            answer.add(kind, [frames[i]["name"] or "<unknown>" for i in stack], weight)
            if ns:
                answer.times.append(half_up(start * ns))
    return answer


def call_frame(node):
    if "callFrame" in node:
        f, base = node["callFrame"], 0
    else:
        f, base = node, 1
    line, column = f.get("lineNumber", base - 1), f.get("columnNumber", base - 1)
    return (f["functionName"] or "(anonymous)", f.get("url") or None,
            line - base + 1 if line >= base else None, column - base + 1 if column >= base else None)


class Tree:
    def __init__(self):
        self.frames, self.parents, self.hits, self.sizes = {}, {}, collections.Counter(), collections.Counter()

    def add(self, node, parent=None):
        self.frames[node["id"]] = call_frame(node)
        self.parents.setdefault(node["id"], node.get("parent", parent))
        self.hits[node["id"]] += node.get("hitCount", 0)
        self.sizes[node["id"]] += node.get("selfSize", 0)
        for child in node.get("children", []):
            if isinstance(child, dict):
                self.add(child, node["id"])
            else:
                self.parents[child] = node["id"]

    def stack(self, node):
        names = []
        while node is not None:
            if not (self.parents[node] is None and self.frames[node][0] == "(root)"):
                names.append(self.frames[node][0])
            node = self.parents[node]
        return names[::-1]


def put_samples(answer, tree, ids, times):
    """times: us; a sample lasts until the next one in time, the last one for the average."""
    order = sorted(range(len(ids)), key=lambda i: (times[i], i)) if times else range(len(ids))
    for at, i in enumerate(order):
        answer.add("samples/count", tree.stack(ids[i]), 1)
        if not times:
            continue
        ns = [round(times[k] * 1000) for k in order]
        last = (ns[-1] - ns[0] + (len(ns) - 1) // 2) // (len(ns) - 1) if len(ns) > 1 else 0
        answer.add("time/nanoseconds", tree.stack(ids[i]), ns[at + 1] - ns[at] if at + 1 < len(ns) else last)
        answer.times.append(ns[at])


def cpuprofile(document):
    answer, tree = Answer(), Tree()
    for node in document.get("nodes") or [document["head"]]:
        tree.add(node)
    times = None
    if "timeDeltas" in document:
        times, now = [], document.get("startTime", 0)
        for delta in document["timeDeltas"]:
            now += delta
            times.append(now)
    elif "timestamps" in document:
        times = document["timestamps"]
    put_samples(answer, tree, document.get("samples", []), times)
    for node, hits in tree.hits.items():
        answer.add("hits/count", tree.stack(node), hits)
    answer.functions = set(tree.frames.values())
    return answer


def heapprofile(document):
    answer, tree = Answer(), Tree()
    tree.add(document["head"])
    for node, size in tree.sizes.items():
        answer.add("space/bytes", tree.stack(node), size)
    for sample in document.get("samples", []):
        stack = tree.stack(sample["nodeId"]) if sample["nodeId"] in tree.frames else []
        answer.add("sampled_space/bytes", stack, sample["size"])
        answer.add("samples/count", stack, 1)
    answer.functions = set(tree.frames.values())
    return answer


def trace_profiles(events):
    answer, trees, state = Answer(), {}, {}
    for e in events:
        if e["ph"] != "P" or e["name"] not in ("Profile", "ProfileChunk"):
            continue
        key, data = (e["pid"], e["id"]), e["args"]["data"]
        tree = trees.setdefault(key, Tree())
        now = state.setdefault(key, [0, 0, [], []])
        if e["name"] == "Profile":
            now[0] = data["startTime"]
        for node in data.get("cpuProfile", {}).get("nodes", []):
            tree.add(node)
        for node, delta in zip(data.get("cpuProfile", {}).get("samples", []), data.get("timeDeltas", [])):
            now[1] += delta
            now[2].append(node)
            now[3].append(now[1])
    for key, (start, _, ids, times) in state.items():
        put_samples(answer, trees[key], ids, [start + t for t in times])
        answer.functions |= set(trees[key].frames.values())
    return answer


def trace_spans(events):
    answer, spans, begun = Answer(), [], collections.defaultdict(list)
    last = collections.Counter()
    for i, e in enumerate(events):
        if e["ph"] not in "XBE":
            continue
        thread, ts = (str(e["pid"]), str(e["tid"])), round(e["ts"] * 1000)
        last[thread] = max(last[thread], ts + round(e.get("dur", 0) * 1000))
        if e["ph"] == "X" and "dur" in e:
            spans.append([thread, ts, round(e["dur"] * 1000), i, e["name"]])
        elif e["ph"] in "XB":
            spans.append([thread, ts, None, i, e["name"]])
            if e["ph"] == "B":
                begun[thread].append(spans[-1])
        elif begun[thread]:
            span = begun[thread].pop()
            span[2] = ts - span[1]
    for span in spans:
        if span[2] is None:
            span[2] = max(0, last[span[0]] - span[1])
    spans.sort(key=lambda s: (s[0], s[1], -s[2], s[3]))
    for i, (thread, start, duration, _, name) in enumerate(spans):
        path, self = [name], duration
        # The enclosing span is the latest one before that has not ended.
        at = i
        while True:
            at = next((k for k in range(at - 1, -1, -1) if spans[k][0] == thread and encloses(spans, k, at)), None)
            if at is None:
                break
            path.insert(0, spans[at][4])
        within = [spans[k][1:3] for k in range(i + 1, len(spans)) if spans[k][0] == thread and parent(spans, k) == i]
        ends = [min(start + duration, begin + length) for begin, length in within]
        self -= sum(end - begin for (begin, _), end in zip(within, ends))
        # A row for each time in which none of them is open; the first one may have no length.
        followed = [begin for begin, _ in within[1:]] + [start + duration]
        answer.times += [end for end, begin in zip(ends, followed) if begin > end]
        answer.add("time/nanoseconds", path, self)
        answer.add("spans/count", path, 1)
        answer.times.append(start)
        answer.functions.add((name, None, None, None))
    return answer


def parent(spans, at):
    stack = []
    for k in range(at + 1):
        if spans[k][0] != spans[at][0]:
            continue
        while stack and spans[stack[-1]][1] + spans[stack[-1]][2] <= spans[k][1]:
            stack.pop()
        if k == at:
            return stack[-1] if stack else None
        stack.append(k)


def encloses(spans, outer, inner):
    return parent(spans, inner) == outer


def read(name, form=None):
    with open(name, encoding="utf-8") as file:
        document = json.load(file)
    if isinstance(document, list) or "traceEvents" in document:
        events = document if isinstance(document, list) else document["traceEvents"]
        profiles = trace_profiles(events) if form != "trace-event" else Answer()
        return profiles if profiles.sums else trace_spans(events)
    if "profiles" in document:
        return speedscope(document)
    if "head" in document and "selfSize" in document["head"]:
        return heapprofile(document)
    return cpuprofile(document)


if __name__ == "__main__":
    for text in read(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None).lines():
        print(text)
