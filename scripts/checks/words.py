"""Words that must not appear anywhere in the project."""
import re

from .tree import line_of

SELF = ("scripts/checks/words.py", "scripts/tests/")
BANNED = [
    (r"\b(PROTOCOLS|FORMATS|ANCHORS|ECOSYSTEM)\b", "cite the original source, not working notes"),
    (r"\b(DESIGN|SCOPE|HELPER|CASES)\.md\b", "cite the original source, not working notes"),
    (r"(?<![\w/.-])(\.\./|/work/)shared\b|(?<![\w])/work/", "a path of one machine"),
    (r"\b(TODO|FIXME|XXX|HACK)\b", "do it or file an issue"),
    (r"(?i)\b(blazing\w*|seamless\w*|cutting-edge|world-class|state-of-the-art|effortless\w*|"
     r"leverag(e|es|ing)|game-chang\w*|next-generation)\b", "say what it does instead"),
]
# Data that we did not write may use any word.
EXEMPT = ("LICENSE", "tests/data/", "tests/cases/", "tests/broken/", "tests/fuzz/seeds/",
          "data/")


def check(tree):
    faults = []
    for file in tree.text_files():
        if file.startswith(SELF) or file.startswith(EXEMPT):
            patterns = BANNED[:3] if file.startswith("data/") else []
        else:
            patterns = BANNED
        text = tree.text(file)
        for pattern, why in patterns:
            for match in re.finditer(pattern, text):
                faults.append(f"{file}:{line_of(text, match.start())}: '{match[0]}': {why}")
    return faults
