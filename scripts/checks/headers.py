"""Every header opens with what it is, is guarded by #pragma once, and is used by someone."""
import re

MIN_COMMENT_LINES, MAX_COMMENT_LINES = 1, 15


def check(tree):
    faults = []
    included = set()
    for file in tree.cpp_files():
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', tree.text(file), re.M):
            if file.rsplit(".", 1)[0].removesuffix("_test") != f"src/{name}".rsplit(".", 1)[0]:
                included.add(name)
    for file in tree.cpp_files("src"):
        if not file.endswith(".h"):
            continue
        lines = tree.text(file).splitlines()
        comment = 0
        while comment < len(lines) and lines[comment].startswith("//"):
            comment += 1
        if not MIN_COMMENT_LINES <= comment <= MAX_COMMENT_LINES:
            faults.append(f"{file}:1: a header opens with {MIN_COMMENT_LINES} to "
                          f"{MAX_COMMENT_LINES} lines of comment: what, which model, what it leaves "
                          f"out, source; this one has {comment}")
        if comment >= len(lines) or lines[comment] != "#pragma once":
            faults.append(f"{file}:{comment + 1}: '#pragma once' comes right after that comment")
        if file.removeprefix("src/") not in included:
            faults.append(f"{file}:1: no other file includes this header; use it or delete it")
    return faults
