"""What the checks need of Markdown: fenced blocks, headings, links."""
import dataclasses
import os
import re


@dataclasses.dataclass
class Block:
    """A fenced code block. `first` is the line of its fence, counting from 1."""
    language: str
    lines: list
    first: int
    note: str = ""  # text of the HTML comment right before it
    text_between: bool = True  # whether prose stands between it and the block before


def pages(root):
    """Every Markdown page of the project, relative to the root."""
    found = sorted(p.name for p in root.glob("*.md"))
    return found + sorted(p.relative_to(root).as_posix() for p in (root / "docs").rglob("*.md"))


def read(root, page):
    return (root / page).read_text(encoding="utf-8")


def blocks(text):
    found, open_block, note, between = [], None, "", False
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if open_block is not None:
            if line.strip() == fence:
                found.append(open_block)
                open_block, note, between = None, "", False
            else:
                open_block.lines.append(line)
            continue
        opening = re.match(r"(`{3,})\s*(\S*)", line)
        comment = re.fullmatch(r"\s*<!--\s*(.*?)\s*-->\s*", line)
        if opening:
            fence = opening[1]
            open_block = Block(opening[2], [], number, note, between)
        elif comment:
            note = comment[1]
        elif line.strip():
            note, between = "", True
    return found


def without_blocks(text):
    return re.sub(r"^(`{3,}).*?^\1\s*$", "", text, flags=re.S | re.M)


def headings(text):
    """[(level, title)]"""
    return [(len(m[1]), m[2]) for m in re.finditer(r"^(#{1,6})\s+(.*)$", without_blocks(text), re.M)]


def links(text):
    """Targets of inline links and images, in order."""
    plain = re.sub(r"`[^`\n]*`", "``", without_blocks(text))
    return re.findall(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)", plain) + re.findall(
        r'<(?:img|a|source)\s[^>]*?(?:src|href|srcset)="([^"]+)"', plain)


def resolve(page, target):
    """A relative link as a path from the root, without its anchor."""
    path = target.split("#")[0]
    if not path:
        return page
    return os.path.normpath(os.path.join(os.path.dirname(page), path))


def is_external(target):
    return re.match(r"[a-z][a-z0-9+.-]*:", target) is not None


def anchor(title):
    """The anchor that GitHub gives a heading."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def check_links(root):
    faults = []
    for page in pages(root):
        for target in links(read(root, page)):
            if is_external(target):
                continue
            path = resolve(page, target)
            if path.startswith("..") or not (root / path).exists():
                faults.append(f"{page}: link to {target}: there is no {path}")
            elif "#" in target and path.endswith(".md"):
                name = target.split("#", 1)[1]
                if name not in {anchor(title) for _, title in headings(read(root, path))}:
                    faults.append(f"{page}: link to {target}: {path} has no heading for it")
    return faults
