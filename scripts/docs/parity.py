"""A page and its translation: same headings, same code blocks, same links."""
from . import markdown


def translation(page):
    """Where the Chinese form of a page lies: README.zh-CN.md, docs/zh-CN/x.md."""
    if page.startswith("docs/"):
        return "docs/zh-CN/" + page.removeprefix("docs/")
    return page.removesuffix(".md") + ".zh-CN.md"


def original(path):
    """The English form of a path; the path itself when it is no translation."""
    if path.startswith("docs/zh-CN/"):
        return "docs/" + path.removeprefix("docs/zh-CN/")
    return path.replace(".zh-CN.", ".")


def pairs(root):
    for page in markdown.pages(root):
        other = translation(page)
        if original(page) == page and (root / other).exists():
            yield page, other


def check(root):
    faults = []
    for page in markdown.pages(root):
        if original(page) != page and not (root / original(page)).exists():
            faults.append(f"{page}: translates {original(page)}, which does not exist")
    for page, other in pairs(root):
        faults += compare(page, markdown.read(root, page), other, markdown.read(root, other))
    return faults


def compare(page, text, other, other_text):
    faults = []
    levels = [level for level, _ in markdown.headings(text)]
    other_levels = [level for level, _ in markdown.headings(other_text)]
    if levels != other_levels:
        faults.append(f"{other}: heading levels {other_levels}, in {page} they are {levels}")
    ours = [(b.language, b.lines, b.note) for b in markdown.blocks(text)]
    theirs = [(b.language, b.lines, b.note) for b in markdown.blocks(other_text)]
    if len(ours) != len(theirs):
        faults.append(f"{other}: {len(theirs)} code blocks, {page} has {len(ours)}")
    for number, (mine, yours) in enumerate(zip(ours, theirs), 1):
        if mine != yours:
            faults.append(f"{other}: code block {number} differs from that of {page}; "
                          "scripts/check_docs --update copies it")
    missing = links_of(page, text) - links_of(other, other_text)
    extra = links_of(other, other_text) - links_of(page, text)
    for target in sorted(missing):
        faults.append(f"{other}: lacks the link to {target} that {page} has")
    for target in sorted(extra):
        faults.append(f"{other}: has a link to {target} that {page} lacks")
    return faults


def links_of(page, text):
    """Link targets with those to translations counted as those to the originals. Links of a page
    to its own other language are left out: each form has the one that the other has not."""
    found = set()
    for target in markdown.links(text):
        if markdown.is_external(target):
            found.add(target)
        elif original(markdown.resolve(page, target)) != original(page):
            found.add(original(markdown.resolve(page, target)))
    return found


def copy_blocks(root):
    """Puts the code blocks of each page into its translation, where both have as many."""
    for page, other in pairs(root):
        ours = markdown.blocks(markdown.read(root, page))
        text = markdown.read(root, other)
        theirs = markdown.blocks(text)
        if len(ours) != len(theirs):
            continue
        lines = text.splitlines()
        for mine, yours in reversed(list(zip(ours, theirs))):
            lines[yours.first:yours.first + len(yours.lines)] = mine.lines
        (root / other).write_text("\n".join(lines) + "\n", encoding="utf-8")
