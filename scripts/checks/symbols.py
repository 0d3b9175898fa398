"""Symbols that the style bans, and where they are allowed all the same."""
import re

from .tree import line_of

PRINTING = r"\bstd::(cout|cerr|clog)\b|(?<![\w:])(std::)?(printf|fprintf|puts|putchar)\s*\(|\bfmt::print\b"
ENDING = r"(?<![\w:.>])(std::|::)?(exit|abort|_Exit|quick_exit)\s*\(|\bstd::terminate\b"

# (pattern, why, prefixes of files where it is allowed)
BANNED = [
    (r"\b(std::)?(secure_)?getenv\s*\(", "configuration comes from arguments and files",
     ("src/app/",)),
    (PRINTING, "libraries never print", ("src/app/", "src/base/check.cpp", "tests/", "bench/")),
    (ENDING, "libraries never end the program",
     ("src/app/", "src/base/check.cpp", "tests/", "bench/")),
    (r"(?<![\w:.>])(std::)?s?rand\s*\(", "draw from base/random.h", ()),
    (r"\bstd::(random_device|mt19937\w*|default_random_engine|\w+_distribution)\b",
     "draw from base/random.h: std's differ between libraries", ()),
    (r"\bsystem_clock\b|\bstd::(time|clock)\s*\(|\b(gettimeofday|localtime\w*|clock_gettime)\s*\("
     r"|(?<![\w:.>])time\s*\(\s*(nullptr|NULL|0|&)",
     "no wall clock inside: results depend on inputs alone", ("src/app/",)),
    (r"\bsteady_clock\b|\bhigh_resolution_clock\b",
     "time is taken in app/ and bench/ only", ("src/app/", "bench/", "tests/", "src/scenario/")),
    (r"\bstd::(views|ranges::views)\b", "old clangs cannot read it; write the loop", ()),
    (r"\busing\s+namespace\s+std\b", "name what you use", ()),
    (r"\bthread_local\b", "no mutable globals", ()),
]

FORBIDDEN_NAME = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w*(?:Manager|System|Context|Util|Utils|Helper))"
                            r"\b(?!\s*;)")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
UNORDERED = re.compile(r"\b(?:std::unordered_\w+|tsl::robin_\w+)\s*<")


def check(tree):
    faults = []
    for file in tree.cpp_files():
        code = tree.code(file)
        test = file.endswith("_test.cpp")
        for pattern, why, allowed in BANNED:
            if file.startswith(allowed) or (test and "tests/" in allowed):
                continue
            for match in re.finditer(pattern, code):
                faults.append(f"{file}:{line_of(code, match.start())}: "
                              f"'{match[0].strip()}' is banned: {why}")
        for match in FORBIDDEN_NAME.finditer(code):
            faults.append(f"{file}:{line_of(code, match.start())}: name '{match[1]}' says nothing: "
                          "no Manager, System, Context or Util")
        for match in MACRO.finditer(code):
            if match[1] not in ("CHECK", "X"):
                faults.append(f"{file}:{line_of(code, match.start())}: macro {match[1]}: "
                              "only CHECK and X are allowed")
        faults += _unordered_iteration(tree, file)
    return faults


def unordered_names(code):
    """Names declared with an unordered container type, by a heuristic: Type<...> name [;={(,)]."""
    names = set()
    for match in UNORDERED.finditer(code):
        depth, i = 1, match.end()
        while i < len(code) and depth:
            depth += {"<": 1, ">": -1}.get(code[i], 0)
            i += 1
        name = re.match(r"\s*[&*]*\s*(\w+)\s*[;={(,)]", code[i:])
        if name:
            names.add(name[1])
    return names


def _unordered_iteration(tree, file):
    code = tree.code(file)
    names = unordered_names(code)
    header = re.sub(r"(_test)?\.cpp$", ".h", file)
    if header != file and tree.exists(header):
        names |= unordered_names(tree.code(header))
    for name in sorted(names):
        pattern = (rf"for\s*\([^;)]*:\s*(?:\w+(?:\.|->))*{name}\s*\)"
                   rf"|(?<![\w]){name}\s*\.\s*c?begin\s*\(")
        for match in re.finditer(pattern, code):
            yield (f"{file}:{line_of(code, match.start())}: iterates over unordered '{name}': "
                   "the order differs between runs and libraries")
