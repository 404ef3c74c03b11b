"""An independent reader of DHAT's JSON: sums of each value by function, self and total; python3 reader.py FILE"""
import collections
import json
import re
import sys

KEYS = ["tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "rb", "wb"]


def name_of(frame):
    """The function of "0xADDRESS: FUNCTION (FILE:LINE)" or "... (in OBJECT)"; of "???" [OBJECT] without directories."""
    found = re.fullmatch(r"0x[0-9A-Fa-f]+: (.*?)(?: \((?:in (.*)|[^()]*:\d+)\))?", frame)
    if found and found[1] == "???" and found[2]:
        return f"[{found[2].rpartition('/')[2]}]"
    return found[1] if found else frame


def main():
    profile = json.load(open(sys.argv[1], encoding="utf-8"))
    own, total = collections.Counter(), collections.Counter()
    for point in profile["pps"]:
        names = [name_of(profile["ftbl"][i]) for i in point["fs"]]
        for key in KEYS:
            if key in point:
                own[key, names[0]] += point[key]
                for name in set(names):
                    total[key, name] += point[key]
    print("key", "function", "self", "total", sep="\t")
    for key, name in sorted(total, key=lambda at: (KEYS.index(at[0]), at[1])):
        print(key, name, own[key, name], total[key, name], sep="\t")


if __name__ == "__main__":
    main()
