#!/usr/bin/env python3
"""Wireshark's dissector as oracle of `weft run --pcap`.

tshark_oracle.py WEFT [--required]

Captures of small incasts, on what NICs send and at a switch: tshark finds no malformed frame, every
invariant CRC is what this script computes, time never goes back, and there are as many data packets,
acknowledgements, NAKs, congestion notifications and pauses as Weft says it sent. Exits 77 (skipped) when
tshark is absent, unless --required.
"""
import argparse
import collections
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

TOPO = """Nodes 16
Tiers 2
Podsize 16

Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up {up}
Oversubscribed {over}
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Queue_Up {queue}
Queue_Down {queue}

Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Queue_Down {queue}
"""
SCENARIO = """weft: scenario/1
cluster: net.topo
stack: rocev2
engine: packet
queue_pairs: 2
work:
  - {{pattern: incast, size: {size}}}
  - {{transfer: [3, 12], size: 4097B}}
"""
FIELDS = ["frame.time_epoch", "frame.protocols", "infiniband.bth.opcode", "infiniband.aeth.syndrome",
          "_ws.malformed", "_ws.expert.severity", "macc.opcode"]


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stderr}")
    return done.stdout


def frames(path):
    data = path.read_bytes()
    magic, _, _, _, _, snap, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, link) == (0xA1B23C4D, 1), (hex(magic), link)
    at, last, out = 24, 0, []
    while at < len(data):
        seconds, nanoseconds, kept, size = struct.unpack_from("<IIII", data, at)
        now = seconds * 10**9 + nanoseconds
        assert now >= last, f"time goes back at byte {at}"
        last = now
        out.append((data[at + 16:at + 16 + kept], size))
        at += 16 + kept
    return out


def check_crcs(captured):
    checked = 0
    for frame, size in captured:
        if frame[12:14] != b"\x08\x00" or len(frame) < size:
            continue
        ip = bytearray(frame[14:-4])
        for i in (1, 8, 10, 11, 26, 27, 32):
            ip[i] = 0xFF
        crc = zlib.crc32(b"\xff" * 8 + bytes(ip))
        assert frame[-4:] == struct.pack("<I", crc), f"ICRC of frame {checked}"
        header = frame[14:34]
        assert sum(struct.unpack(">10H", header)) % 0xFFFF == 0, "IP checksum"
        checked += 1
    return checked


def dissect(path):
    text = run(["tshark", "-r", path, "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
               + [word for f in FIELDS for word in ("-e", f)])
    counts = collections.Counter()
    for line in text.splitlines():
        row = dict(zip(FIELDS, line.split("|")))
        if row["_ws.malformed"]:
            raise SystemExit(f"{path}: malformed: {line}")
        if "macc" in row["frame.protocols"]:
            counts["pause"] += 1
        else:
            assert "infiniband" in row["frame.protocols"], line
            opcode = int(row["infiniband.bth.opcode"], 0)
            syndrome = row["infiniband.aeth.syndrome"]
            if opcode == 0x11 and syndrome and int(syndrome, 0) == 0x60:
                counts["nack"] += 1
            else:
                counts[{0x11: "ack", 0x81: "notification"}.get(opcode, "data")] += 1
    return counts


def check(weft, folder, queue, size, up, over):
    (folder / "net.topo").write_text(TOPO.format(queue=queue, up=up, over=over))
    scenario = folder / "s.yaml"
    scenario.write_text(SCENARIO.format(size=size))
    capture = folder / "nics.pcap"
    told = json.loads(run([weft, "run", scenario, "--pcap", capture, "--json", "--quiet"]))["packets"]
    captured = frames(capture)
    crcs = check_crcs(captured)
    counts = dissect(capture)
    # Each packet once, where its NIC sends it: an oracle of kinds and counts.
    expected = {"data": told["sent"], "ack": told["acks"], "nack": told["nacks"],
                "notification": told["notifications"]}
    for kind, count in expected.items():
        assert counts[kind] == count, (kind, counts[kind], count)
    assert crcs == sum(expected.values())
    switch = folder / "switch.pcap"
    run([weft, "run", scenario, "--pcap", switch, "--snap", "128", "--links", "*", "--quiet"])
    everywhere = dissect(switch)
    assert everywhere["data"] >= counts["data"]
    return counts, everywhere


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft", type=pathlib.Path)
    parser.add_argument("--required", action="store_true")
    options = parser.parse_args()
    if shutil.which("tshark") is None:
        print("tshark is not installed")
        return 1 if options.required else 77
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        for queue, size, up, over in [(400000, "1000001B", 8, 1), (60000, "3MB", 4, 2)]:
            counts, everywhere = check(options.weft.resolve(), pathlib.Path(name), queue, size, up, over)
            print(dict(counts), dict(everywhere))
            total += counts + everywhere
    for kind in ("data", "ack", "notification", "pause"):
        assert total[kind] > 0, f"no frame of kind {kind} in any capture"
    return 0


if __name__ == "__main__":
    sys.exit(main())
