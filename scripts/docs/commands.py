"""Runs the commands that the pages show and compares what they print."""
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

from . import markdown, parity

TIME_LIMIT_S = 120


@dataclasses.dataclass
class Command:
    page: str
    line: int
    text: str
    expected: list  # lines, or None when the page shows no output
    status: int
    output_at: int = 0  # index of the first line of the expected output


def commands_of(page, text):
    """Every command that `page` shows and that is to be run."""
    found = []
    everything = markdown.blocks(text)
    for block, following in zip(everything, everything[1:] + [None]):
        if block.language not in ("sh", "console") or block.note.startswith(("not run", "run by")):
            continue
        status = re.fullmatch(r"exit (\d+)", block.note)
        status = int(status[1]) if status else 0
        if block.language == "console":
            found += _console(page, block, status)
            continue
        command = Command(page, block.first, "\n".join(block.lines), None, status)
        if following and following.language == "text" and not following.text_between:
            command.expected, command.output_at = following.lines, following.first
        found.append(command)
    return found


def _console(page, block, status):
    found = []
    for offset, line in enumerate(block.lines):
        number = block.first + 1 + offset
        if line.startswith("$ "):
            found.append(Command(page, number, line[2:], [], status, number))
        elif found and found[-1].text.endswith("\\") and not found[-1].expected:
            found[-1].text += "\n" + line
            found[-1].output_at = number
        elif found:
            found[-1].expected.append(line)
    return found


def matches(expected, actual):
    """Whether lines are as expected, with "..." for any text and, alone, for any lines."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            parts = (re.escape(part) for part in line.rstrip().split("..."))
            pattern += ".*".join(parts) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def run(command, scratch, binary):
    """(exit status, output lines) with both streams as one, as a terminal shows them."""
    environment = dict(os.environ, PATH=f"{binary}:{os.environ['PATH']}", NO_COLOR="1",
                       TERM="dumb", LC_ALL="C.UTF-8", COLUMNS="100")
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command.text], cwd=scratch,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIME_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return None, [f"still running after {TIME_LIMIT_S} s"]
    return done.returncode, done.stdout.decode("utf-8", "replace").splitlines()


def make_scratch(root, folder):
    """A folder that looks like the root of the checkout; what is written into it is thrown away."""
    for entry in root.iterdir():
        if entry.name != ".git" and not entry.name.startswith("weft-run-"):
            (folder / entry.name).symlink_to(entry)
    return folder


def check_ci(root, page, text):
    """What a page leaves to .ci/run must stand there."""
    file = root / ".ci/run"
    ci = file.read_text(encoding="utf-8") if file.exists() else ""
    for block in markdown.blocks(text):
        if block.note == "run by .ci/run":
            for line in block.lines:
                command = line.removeprefix("$ ").split("#")[0].strip()
                if command and command not in ci:
                    yield f"{page}:{block.first}: .ci/run does not run '{command}'"


def check(root, binary, update):
    faults = []
    for page in markdown.pages(root):
        if parity.original(page) != page:
            continue  # its blocks are those of the original; parity sees to that
        text = markdown.read(root, page)
        faults += check_ci(root, page, text)
        page_commands = commands_of(page, text)
        if not page_commands:
            continue
        with tempfile.TemporaryDirectory() as folder:
            scratch = make_scratch(root, pathlib.Path(folder))
            results = [(c, *run(c, scratch, binary)) for c in page_commands]
        wrong = [r for r in results if not _fine(*r)]
        if update:
            wrong = [r for r in wrong if not _rewrite(root, page, *r)]
        faults += [_tell(*r) for r in wrong]
    return faults


def _fine(command, status, output):
    if status != command.status:
        return False
    return command.expected is None or matches(command.expected, output)


def _tell(command, status, output):
    lines = [f"{command.page}:{command.line}: $ {command.text}"]
    if status != command.status:
        lines.append(f"  exit status {status}, expected {command.status}")
    elif command.expected is not None:
        lines.append("  prints something else than the page shows; scripts/check_docs --update")
    return "\n".join(lines + [f"  | {line}" for line in output[:60]])


def elide(expected, output):
    """`output` with what `expected` leaves out left out again: the lines of its one "..." line, and
    the places within lines, so far as the lines around still fit."""
    dots = [i for i, line in enumerate(expected) if line.strip() == "..."]
    lines = list(output)
    if len(dots) == 1 and len(output) >= len(expected):
        head, tail = dots[0], len(expected) - dots[0] - 1
        lines = output[:head] + [expected[dots[0]]] + output[len(output) - tail:]
    partial = [line for line in expected if "..." in line and line.strip() != "..."]
    for i, line in enumerate(lines):
        lines[i] = next((p for p in partial if matches([p], [line])), line)
    return lines


def _rewrite(root, page, command, status, output):
    """Replaces an expected output by the real one; only one that ended as the page says."""
    if status != command.status or command.expected is None:
        return False
    text = markdown.read(root, page)
    # Earlier rewrites may have moved the lines: find the command again.
    for again in commands_of(page, text):
        if again.text == command.text and again.expected == command.expected:
            lines = text.splitlines()
            lines[again.output_at:again.output_at + len(again.expected)] = elide(again.expected, output)
            (root / page).write_text("\n".join(lines) + "\n", encoding="utf-8")
            return True
    return False
