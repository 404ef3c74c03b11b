"""grow(data, n, distinct): the samples n times, of nodes of their own each time if distinct."""
import json


def grow(data, n, distinct):
    document = json.loads(data)
    own, samples, deltas = document["nodes"], document["samples"], document["timeDeltas"]
    root, rest = own[0], [node for node in own[1:]]
    document["samples"], document["timeDeltas"] = samples * n, deltas * n
    if distinct:
        document["samples"], document["nodes"], children = [], [root], []
        for i in range(n):
            for node in rest:
                copy = {**node, "id": node["id"] + 100 * i, "children": [c + 100 * i for c in node.get("children", [])]}
                copy["callFrame"] = {**node["callFrame"], "functionName": f"{node['callFrame']['functionName']}{i}"}
                document["nodes"].append(copy)
            children += [c + 100 * i for c in root["children"]]
            document["samples"] += [s if s == root["id"] else s + 100 * i for s in samples]
        document["nodes"][0] = {**root, "children": children}
    return json.dumps(document, separators=(",", ":")).encode()
