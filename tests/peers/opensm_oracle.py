#!/usr/bin/env python3
"""A real subnet manager as oracle: fabrics of Weft exported to ibsim, routed by opensm, read back.

opensm_oracle.py WEFT [--required]

For each fabric and each of opensm's routing engines (ftree, updn, minhop):
  1. `weft export ibsim_net` of the cluster and of what ibnetdiscover reads back from the simulated
     fabric are the same cables between the same ports of the same names;
  2. for shift permutations (host i sends to host i+s), the most flows that any cable between
     switches carries are, with Weft's adaptive routing, at most those of opensm's tables.
Exits 77 (skipped) when ibsim, opensm or infiniband-diags are absent, unless --required.
"""
import argparse
import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

UMAD = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"
TOOLS = ["ibsim", "opensm", "ibnetdiscover", "dump_fts"]
ENGINES = ["ftree", "updn", "minhop"]
# (name, hosts, radix, tiers, shifts): two tiers of radix 8; three tiers, k = 4 and k = 8.
FABRICS = [
    ("leaf-spine radix 8", 32, 8, 2, [1, 3, 4, 8, 13, 16, 31]),
    ("3-tier fat tree k=4", 16, 4, 3, [1, 2, 4, 5, 8, 11]),
    ("3-tier fat tree k=8", 128, 8, 3, [1, 4, 16, 33, 64]),
]
FLOW = 16 << 20  # bytes of each transfer

CLUSTER = """weft: cluster/1
servers:
  - {{type: l4-ndr, count: {hosts}}}
stack: infiniband
fabric:
  topology: fat_tree
  link: ndr
  switch: {{radix: {radix}}}
  tiers: {tiers}
"""


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n"
                         f"{done.stdout}{done.stderr}")
    return done.stdout


def export(weft, source, to):
    run([weft, "export", "-q", "ibsim_net", source, "-o", to])
    return cables(to.read_text())


def cables(text):
    """{(device, port): (device, port)}, both ways."""
    joined, device = {}, None
    for line in text.splitlines():
        if header := re.match(r'(?:Switch|Hca)\s+\d+ "(.*)"', line):
            device = header[1]
        elif port := re.match(r'\[(\d+)\]\s+"(.*)"\[(\d+)\]', line):
            joined[device, int(port[1])] = port[2], int(port[3])
    return joined


class Simulated:
    """ibsim with one network file; the InfiniBand tools run against it through libumad2sim."""

    def __init__(self, folder, net, host):
        self.folder = folder
        self.env = dict(os.environ, LD_PRELOAD=UMAD, SIM_HOST=host)
        # Its standard input must stay open: ibsim ends with it.
        self.ibsim = subprocess.Popen(["ibsim", "-s", net], cwd=folder, stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(50):
            time.sleep(0.1)
            probe = subprocess.run(["ibnetdiscover"], cwd=folder, env=self.env, capture_output=True,
                                   text=True, timeout=60)
            if probe.returncode == 0:
                return
        raise SystemExit(f"ibsim does not answer: {probe.stderr}")

    def tool(self, *command):
        return run(command, cwd=self.folder, env=self.env)

    def close(self):
        self.ibsim.stdin.close()
        self.ibsim.terminate()
        self.ibsim.wait()


def forwarding(text):
    """{switch: {destination host: port}} of dump_fts."""
    tables, switch = {}, None
    for line in text.splitlines():
        if header := re.match(r"Unicast lids .*\((.*)\):", line):
            switch = tables.setdefault(header[1], {})
        elif row := re.match(r"0x[0-9a-f]+ (\d+) : \(Channel Adapter .*: '(.*)'\)", line):
            switch[row[2]] = int(row[1])
    return tables


def most_flows(tables, joined, hosts, shift):
    load = collections.Counter()
    for i, source in enumerate(hosts):
        to = hosts[(i + shift) % len(hosts)]
        at = joined[source, 1][0]
        for _ in range(16):
            out = at, tables[at][to]
            at = joined[out][0]
            if at == to:
                break
            load[out] += 1
        else:
            raise SystemExit(f"opensm's tables lead nowhere from {source} to {to}")
    return max(load.values(), default=0)


def most_of_weft(weft, folder, cluster, hosts, shift, routing):
    """The same of Weft's flow engine: bytes on the busiest cable, in flows."""
    lines = [f"  - {{transfer: [{i}, {(i + shift) % hosts}], size: {FLOW}B}}" for i in range(hosts)]
    scenario = folder / "shift.yaml"
    scenario.write_text("weft: scenario/1\nwork:\n" + "\n".join(lines) + "\n")
    run([weft, "run", "-q", scenario, "-c", cluster, "--routing", routing, "-o", folder / "run"])
    most, one = 0.0, 0.0
    with open(folder / "run" / "links.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] != "infiniband":
                continue
            wire = float(row["wire_bytes"])
            if row["from"].startswith("node"):
                one = max(one, wire)  # a host's own cable carries one flow
            elif not row["to"].startswith("node"):
                most = max(most, wire)
    return most / one


def check(weft, folder, fabric):
    name, hosts, radix, tiers, shifts = fabric
    cluster, net = folder / "cluster.yaml", folder / "fabric.net"
    cluster.write_text(CLUSTER.format(hosts=hosts, radix=radix, tiers=tiers))
    ours = export(weft, cluster, net)
    names = [f"node{i}/nic0" for i in range(hosts)]
    weft_most = {(s, r): most_of_weft(weft, folder, cluster, hosts, s, r)
                 for s in shifts for r in ("adaptive", "ecmp")}
    faults = []
    for engine in ENGINES:
        simulated = Simulated(folder, net, names[0])
        try:
            simulated.tool("opensm", "-e", "-f", str(folder / "osm.log"), "-s", "0", "-o", "-R", engine)
            discovered = folder / "discovered.txt"
            discovered.write_text(simulated.tool("ibnetdiscover"))
            tables = forwarding(simulated.tool("dump_fts"))
        finally:
            simulated.close()
        theirs = export(weft, discovered, folder / "again.net")
        if theirs != ours:
            faults.append(f"{name}: {len(set(ours.items()) ^ set(theirs.items()))} cable ends differ "
                          "after ibnetdiscover")
        row = []
        for s in shifts:
            opensm = most_flows(tables, ours, names, s)
            row.append(f"{s}: {opensm} / {weft_most[s, 'adaptive']:.2f} / {weft_most[s, 'ecmp']:.0f}")
            if weft_most[s, "adaptive"] > opensm + 1e-6:
                faults.append(f"{name}, shift {s}: {weft_most[s, 'adaptive']:.3f} flows on our busiest "
                              f"cable, {opensm} with {engine}")
        print(f"{name}, {engine}: {len(ours) // 2} cables the same; most flows on a cable, shift: "
              f"opensm / adaptive / ecmp\n    " + ",  ".join(row))
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weft", type=pathlib.Path)
    parser.add_argument("--required", action="store_true")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    if absent or not pathlib.Path(UMAD).exists():
        print(f"skipped: {', '.join(absent) or UMAD} absent; scripts/setup --ci installs opensm, "
              "ibsim-utils and infiniband-diags")
        return 1 if options.required else 77
    weft, faults = options.weft.resolve(), []
    for fabric in FABRICS:
        with tempfile.TemporaryDirectory() as folder:
            faults += check(weft, pathlib.Path(folder), fabric)
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
