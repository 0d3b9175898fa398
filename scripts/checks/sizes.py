"""Length of functions and files, and of lines.

Functions aim at 40 lines and stop at 70, files stop at 450. What was longer when the rule came is
listed in scripts/tidy_ratchet.txt with its length, and may only shrink.
"""
import re

from .tree import line_of

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 450
MAX_COLUMNS = 100
RATCHET = "scripts/tidy_ratchet.txt"
RATCHET_HEADING = """\
# What is longer than the rule allows: "file PATH LINES" or "function PATH NAME LINES".
# A number here may only go down: scripts/tidy --update-ratchet. New rows are not welcome.
"""

_INITIALISER_LIST = re.compile(r"\)\s*(noexcept(\([^)]*\))?\s*)?:(?!:)")
_CLASS_HEAD = re.compile(r"^(template\s*<.*>\s*)?(typedef\s+)?(class|struct|union|enum)\b", re.S)


def functions(code):
    """Yields (name, first line, line count) of every function with a body in stripped C++."""
    stack = []  # kinds of the open braces: namespace, class, function, block, init
    starts = []  # (name, first line) of the open functions
    head_start = 0
    for i, char in enumerate(code):
        if char == "{":
            head = code[head_start:i]
            kind = _kind(head, stack)
            stack.append(kind)
            if kind == "function":
                starts.append((_name(head), _first_line(code, head_start)))
            if kind != "init":
                head_start = i + 1
        elif char == "}" and stack:
            kind = stack.pop()
            if kind == "function":
                name, first = starts.pop()
                yield name, first, line_of(code, i) - first + 1
            if kind != "init":
                head_start = i + 1
        elif char == ";" and _balanced(code[head_start:i]):
            head_start = i + 1
        elif char == "\n" and code[head_start:i].lstrip().startswith("#"):
            if not code[head_start:i].endswith("\\"):
                head_start = i + 1


def _kind(head, stack):
    if "function" in stack:
        return "block"
    head = re.sub(r"\b(public|private|protected)\s*:", "", head).strip()
    if re.search(r"\b(namespace|extern\s*\"\")", head) and "(" not in head:
        return "namespace"
    if not _balanced(head):
        return "init"
    if _CLASS_HEAD.match(head) and not re.search(r"\)\s*(const|noexcept|override)*\s*$", head):
        return "class"
    if ")" not in head or re.search(r"=\s*$", head):
        return "init"
    # `Type(int a) : member_{a} {`: the first brace belongs to a member.
    if _INITIALISER_LIST.search(head) and re.search(r"[\w>]\s*$", head):
        return "init"
    return "function"


def _balanced(text):
    return text.count("(") == text.count(")")


def _name(head):
    head = re.sub(r"\[\[.*?\]\]", "", head, flags=re.S)
    test = re.search(r"\b(TEST|TEST_F|TEST_P|RC_GTEST_PROP)\s*\(\s*(\w+)\s*,\s*(\w+)", head)
    if test:
        return f"{test[2]}.{test[3]}"
    match = re.search(r"((?:~?[\w:]+|operator\s*\S+))\s*\(", head)
    return re.sub(r"\s+", "", match[1]) if match else "lambda"


def _first_line(code, offset):
    blank = re.compile(r"(\s|\b(public|private|protected)\s*:)*").match(code, offset)
    return line_of(code, blank.end())


def read_ratchet(tree):
    """{("file", path): lines, ("function", path, name): lines}"""
    rows = {}
    if tree.exists(RATCHET):
        for line in tree.text(RATCHET).splitlines():
            if line.strip() and not line.startswith("#"):
                *key, lines = line.split()
                rows[tuple(key)] = int(lines)
    return rows


def _too_long(tree):
    """{ratchet key: (lines, line number)} of everything over the limit."""
    found = {}
    for file in tree.cpp_files():
        count = tree.text(file).count("\n")
        if count > MAX_FILE_LINES:
            found["file", file] = count, 1
        for name, first, lines in functions(tree.code(file)):
            if lines > MAX_FUNCTION_LINES:
                key = "function", file, name
                found[key] = max(found.get(key, (0, 0)), (lines, first))
    for file in tree.text_files():
        if file.startswith("scripts/") and file.endswith((".py", "")):
            count = tree.text(file).count("\n")
            if count > MAX_FILE_LINES:
                found["file", file] = count, 1
    return found


def check(tree):
    faults = []
    ratchet = read_ratchet(tree)
    found = _too_long(tree)
    for key, (lines, at) in found.items():
        limit = MAX_FILE_LINES if key[0] == "file" else MAX_FUNCTION_LINES
        what = "file" if key[0] == "file" else f"function {key[2]}"
        allowed = ratchet.get(key, limit)
        if lines > allowed:
            faults.append(f"{key[1]}:{at}: {what} has {lines} lines, {allowed} are allowed; split it")
    for key, lines in ratchet.items():
        if found.get(key, (0, 0))[0] < lines:
            faults.append(f"{RATCHET}:1: '{' '.join(key)} {lines}' has shrunk; "
                          "run scripts/tidy --update-ratchet")
    for file in tree.cpp_files():
        for number, line in enumerate(tree.text(file).splitlines(), 1):
            if len(line) > MAX_COLUMNS and "http" not in line:
                faults.append(f"{file}:{number}: {len(line)} columns, {MAX_COLUMNS} are allowed")
    return faults


def update_ratchet(tree):
    """Lowers the rows that shrank and drops those that are within the limit; never raises one."""
    found = _too_long(tree)
    rows = []
    for key, lines in read_ratchet(tree).items():
        if key in found:
            rows.append(" ".join((*key, str(min(lines, found[key][0])))))
    (tree.root / RATCHET).write_text(RATCHET_HEADING + "".join(f"{row}\n" for row in sorted(rows)))
    tree.text.cache_clear()
