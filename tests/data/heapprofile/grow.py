"""grow(data, n, distinct): the samples n times, and, if distinct, as many subtrees with names of their own."""
import json


def renamed(node, i):
    frame = {**node["callFrame"], "functionName": f"{node['callFrame']['functionName']}{i}"}
    return {**node, "callFrame": frame, "id": node["id"] + 1000 * i, "children": [renamed(c, i) for c in node["children"]]}


def grow(data, n, distinct):
    document = json.loads(data)
    own, samples = document["head"]["children"], document["samples"]
    document["samples"] = samples * n
    if distinct:
        document["head"]["children"] = [renamed(node, i) for i in range(n) for node in own]
    return json.dumps(document, separators=(",", ":")).encode()
