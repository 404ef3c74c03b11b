"""grow(data, n, distinct): the events n times, later each time; other profiles, with other names if distinct."""
import json


def changed(event, i, distinct):
    event = json.loads(json.dumps(event))
    if "ts" in event:
        event["ts"] += 1000 * i
    if "id" in event:
        event["id"] += f"_{i}"
    if distinct and event["ph"] in "XBE":
        event["name"] += str(i)
    for node in event.get("args", {}).get("data", {}).get("cpuProfile", {}).get("nodes", []) if distinct else ():
        node["callFrame"]["functionName"] += str(i)
    return event


def grow(data, n, distinct):
    document = json.loads(data)
    events = document if isinstance(document, list) else document["traceEvents"]
    events[:] = [changed(event, i, distinct) for i in range(n) for event in events]
    return json.dumps(document, separators=(",", ":")).encode()
