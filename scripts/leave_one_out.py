#!/usr/bin/env python3
"""Judges the collective model on systems that it was not fitted on.

  scripts/leave_one_out.py [MAP]

For every system of the map in turn: what was fitted for its GPU generation is put back to what the
other systems of that generation give (their median; the mean of the other generations where there
is none), the size curves are fitted again without its rows, and its rows are predicted with the
result. Prints median absolute errors by class, beside those of the shipped constants.
"""
import argparse
import collections
import os
import re
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fit_curves as fit  # noqa: E402

CLASSES = ["collectives_small", "collectives_medium", "collectives_large"]


def blocks(text):
    return text.split("  - compute_capability: ")


def capability(block):
    return int(block.split("\n")[0])


def numbers(block, key, pattern=None):
    """Values of `key` in a generation's block, in one pattern's list when given."""
    if pattern:
        found = re.search(rf"    {pattern}:\n((?:      .*\n)*)", block)
        block = found[1] if found else ""
    return [float(x) for x in re.findall(rf"\b{key}: ([\d.]+)", block)]


def replace_all(block, pattern, key, value):
    found = re.search(rf"    {pattern}:\n((?:      .*\n)*)", block)
    if not found:
        return block
    inside = re.sub(rf"\b{key}: [\d.]+", f"{key}: {value:.4g}", found[1])
    return block[:found.start(1)] + inside + block[found.end(1):]


def forget(text, generation):
    """The generation's fitted figures replaced by the mean of the other generations' ones."""
    parts = blocks(text)
    others = [p for p in parts[1:] if capability(p) != generation]
    for i, part in enumerate(parts[1:], 1):
        if capability(part) != generation:
            continue
        for pattern in ("ring", "tree", "direct", "nvls"):
            for key in ("efficiency", "own_copy"):
                values = [v for other in others for v in numbers(other, key, pattern)]
                if values:
                    part = replace_all(part, pattern, key, statistics.mean(values))
        for key in ("latency_scale", "nvls_latency_scale"):
            values = [float(v) for other in others
                      for v in re.findall(rf"    {key}:\n?\s+\{{value: ([\d.]+)", other)]
            if values:
                part = re.sub(rf"(    {key}:\n?\s+\{{value: )[\d.]+", rf"\g<1>{statistics.mean(values):.4g}", part)
        parts[i] = part
    return "  - compute_capability: ".join(parts)


def refit(weft, path, base, rows, generations):
    """Curves on `rows`, which were predicted with `base`."""
    text = fit.insert(base, fit.fit([r for r in rows if r["nodes"] == "1"], generations))
    return fit.fit_nics([r for r in rows if r["nodes"] != "1"], text)


def errors_by_class(rows):
    out = collections.defaultdict(list)
    for row in rows:
        out[row["class"]].append(abs(float(row["error"])))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("map", nargs="?", default=os.path.join(fit.ROOT, "data/validation/collectives.yaml"))
    parser.add_argument("--weft", default=os.path.join(fit.ROOT, "build/release/weft"))
    arguments = parser.parse_args()
    shipped = open(fit.CONSTANTS).read()
    base = fit.without_curves(shipped)
    generations = [int(g) for g in re.findall(r"compute_capability: (\d+)", base)]
    plain = fit.run_validate(arguments.weft, arguments.map, base)
    own = [r for r in fit.run_validate(arguments.weft, arguments.map, shipped) if r["judged"] == "yes"]
    left_out = collections.defaultdict(list)
    for system in sorted({row["system"] for row in own}):
        mine = [row for row in plain if row["system"] == system]
        generation = fit.generation_of(int(mine[0]["capability"]), generations)
        one_server = any(row["nodes"] == "1" for row in mine)
        start, rows = base, plain
        if one_server:  # its generation was fitted on it, too
            start = forget(base, generation)
            rows = fit.run_validate(arguments.weft, arguments.map, start)
        rest = [r for r in rows if r["fit"] == "yes" and r["system"] != system]
        text = refit(arguments.weft, arguments.map, start, rest, generations)
        sets = ",".join(sorted({row["set"] for row in mine}))
        judged = [r for r in fit.run_validate(arguments.weft, arguments.map, text, sets)
                  if r["judged"] == "yes" and r["system"] == system]
        for name, values in errors_by_class(judged).items():
            left_out[name] += values
        print(f"{system}: {statistics.median(abs(float(r['error'])) for r in judged) * 100:.1f} %",
              file=sys.stderr)
    mine = errors_by_class(own)
    print("| class | rows | shipped constants | system left out |\n|---|---|---|---|")
    for name in CLASSES:
        print(f"| {name} | {len(mine[name])} | {statistics.median(mine[name]) * 100:.1f} % | "
              f"{statistics.median(left_out[name]) * 100:.1f} % |")


if __name__ == "__main__":
    sys.exit(main())
