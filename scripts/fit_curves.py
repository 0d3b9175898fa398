#!/usr/bin/env python3
"""Fits the size curves of data/constants/collective.yaml to published measurements.

  scripts/fit_curves.py [--without SYSTEM]... [--out FILE] [MAP]

Runs `weft validate` with constants that have no curves, takes at each knot (a factor 4 apart) the
median of measured over predicted of the rows near it, and writes the constants with a curve for
every GPU generation, collective, pattern and class of protocol that has at least 6 rows near a
knot (4 from 1 GiB on). Rows on one server give the curves of GPUs, rows on several those of NICs. Only sets of tiers A
and B without an excuse take part. Prints what it fitted.
"""
import argparse
import collections
import csv
import io
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONSTANTS = os.path.join(ROOT, "data/constants/collective.yaml")
PATTERN = {"ring": "ring", "direct": "direct", "nvls": "nvls", "tree": "tree"}


def without_curves(text):
    """The constants without what this script fits."""
    text = re.sub(r"      - \{kinds: \[\w+\], (?:simple|low_latency): .*?\}\n(?=      -|    \w|\n|  -)", "",
                  text, flags=re.S)
    return re.sub(r"(?:low_latency|simple): \{[^}]*\},\n     ", "", text)


def run_validate(weft, path, constants, sets=None):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(constants)
        file.flush()
        command = [weft, "validate", path, "--constants", file.name, "--format", "points"]
        out = subprocess.run(command + (["--sets", sets] if sets else []), check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


def generation_of(capability, generations):
    below = [g for g in generations if g <= capability]
    return max(below) if below else min(generations)


def knots(points):
    """(log2 of bytes, factor) by hat-shaped neighbourhoods."""
    out = []
    for k in range(10, 36, 2):
        near = [ratio for x, ratio in points if abs(x - k) <= 1]
        if len(near) >= (4 if k >= 30 else 6):
            out.append((k, statistics.median(near)))
    return out


def size_text(log2_bytes):
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if log2_bytes >= shift:
            return f"{1 << (log2_bytes - shift)}{unit}"
    return f"{1 << log2_bytes}B"


def curve_row(kind, protocol, points, all_points):
    xs = [k for k, _ in points]
    text = ", ".join(f"{size_text(k)}: {f:.3g}" for k, f in points)

    def at(x):
        if x <= xs[0]: return points[0][1]
        for (a, fa), (b, fb) in zip(points, points[1:]):
            if x <= b: return fa + (fb - fa) * (x - a) / (b - a)
        return points[-1][1]

    residual = statistics.median(abs(at(x) / r - 1) for x, r in all_points) * 100
    return (f"      - {{kinds: [{kind}], {protocol}: {{{text}}},\n"
            f"         confidence: fitted, residual_percent: {residual:.1f},\n"
            f"         source: \"data/validation/collectives.yaml, each row with its source\",\n"
            f"         fitted_on: \"{len(all_points)} rows on one server\"}}\n")


def fit(rows, generations):
    """generation -> pattern -> list of rows of YAML."""
    groups = collections.defaultdict(list)
    for row in rows:
        algorithm, _, protocol = row["chosen"].partition("/")
        if algorithm not in PATTERN:  # also "host": launches held the run back
            continue
        family = "simple" if protocol.lower() == "simple" else "low_latency"
        generation = generation_of(int(row["capability"]), generations)
        ratio = float(row["measured"]) / float(row["predicted"])
        groups[generation, PATTERN[algorithm], family, row["what"]].append(
            (math.log2(float(row["size_bytes"])), ratio))
    out = collections.defaultdict(lambda: collections.defaultdict(list))
    for (generation, pattern, family, kind), points in sorted(groups.items()):
        found = knots(points)
        if found:
            out[generation][pattern].append(curve_row(kind, family, found, points))
    return out


def nic_class(row, text):
    names = re.findall(r"  - \{name: ([\w.-]+)", text[text.index("\nnics:"):])
    fit = [n for n in names if row["nic"].startswith(n)]
    return max(fit, key=len) if fit else row["nic_vendor"] if row["nic_vendor"] in names else "default"


def fit_nics(rows, text):
    """Curves of collectives that cross nodes, by class of NIC."""
    groups = collections.defaultdict(list)
    for row in rows:
        if row["chosen"] == "host":
            continue
        family = "simple" if row["chosen"].lower().endswith("/simple") else "low_latency"
        groups[nic_class(row, text), family].append(
            (math.log2(float(row["size_bytes"])), float(row["measured"]) / float(row["predicted"])))
    for (name, family), points in sorted(groups.items()):
        found = knots(points)
        if not found:
            continue
        curve = ", ".join(f"{size_text(k)}: {f:.3g}" for k, f in found)
        text = re.sub(rf"(  - \{{name: {re.escape(name)}, )", rf"\1{family}: {{{curve}}},\n     ", text)
    return text


def insert(text, curves):
    """Appends the rows to the pattern lists of each generation."""
    parts = text.split("  - compute_capability: ")
    for i, part in enumerate(parts[1:], 1):
        generation = int(part.split("\n")[0])
        for pattern, rows in curves.get(generation, {}).items():
            block = re.search(rf"    {pattern}:\n((?:      .*\n|    #.*\n)*)", part)
            if block is None:
                continue
            end = block.end()
            part = part[:end] + "".join(rows) + part[end:]
        parts[i] = part
    return "  - compute_capability: ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("map", nargs="?", default=os.path.join(ROOT, "data/validation/collectives.yaml"))
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--out", default=CONSTANTS)
    parser.add_argument("--weft", default=os.path.join(ROOT, "build/release/weft"))
    arguments = parser.parse_args()
    base = without_curves(open(CONSTANTS).read())
    rows = [row for row in run_validate(arguments.weft, arguments.map, base)
            if row["fit"] == "yes" and row["system"] not in arguments.without]
    generations = [int(g) for g in re.findall(r"compute_capability: (\d+)", base)]
    text = insert(base, fit([row for row in rows if row["nodes"] == "1"], generations))
    text = fit_nics([row for row in rows if row["nodes"] != "1"], text)
    with open(arguments.out, "w") as file:
        file.write(text)
    print(f"fitted on {len(rows)} rows of {len({row['system'] for row in rows})} systems")


if __name__ == "__main__":
    sys.exit(main())
