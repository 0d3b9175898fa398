"""Plugin folders: one file, one line, one page.

Each row of a list.def has NAME.cpp beside it and a page docs/models/NAME.md; each .cpp that
implements the folder's plugin interface has a row.
"""
import re

from .layers import rows

PAGE_SECTIONS = ["Scope and limits", "Model", "Parameters", "Validation", "References"]


def check(tree):
    faults = []
    for list_file in [f for f in tree.files() if f.endswith("/list.def")]:
        folder = list_file.removeprefix("src/").removesuffix("/list.def")
        names = rows(tree, folder)
        for name in sorted({n for n in names if names.count(n) > 1}):
            faults.append(f"{list_file}:1: row {name} twice")
        for name in names:
            if not tree.exists(f"src/{folder}/{name}.cpp"):
                faults.append(f"{list_file}:1: row {name} has no src/{folder}/{name}.cpp")
            if not any(tree.exists(page) for page in pages(folder, name)):
                faults.append(f"{list_file}:1: row {name} has no page {pages(folder, name)[0]}")
        for file, interface in implementations(tree, folder):
            if file.rsplit("/", 1)[1].removesuffix(".cpp") not in names:
                faults.append(f"{file}:1: implements {interface} but has no row in {list_file}")
    return faults + [fault for f in tree.files() if re.fullmatch(r"docs/models/.*\.md", f)
                     for fault in check_page(f, tree.text(f))]


def pages(folder, name):
    """Where the page of a row may lie: under models, under its folder's name there when two folders
    share a name, or, for the format an importer reads, under formats."""
    return [f"docs/models/{name}.md", f"docs/models/{folder.replace('/', '_')}_{name}.md",
            f"docs/formats/{name}.md"]


def implementations(tree, folder):
    """(file, interface) of each .cpp that derives from an abstract class of the folder's headers."""
    inside = [f for f in tree.cpp_files("src") if f.rsplit("/", 1)[0] == f"src/{folder}"]
    interfaces = set()
    for header in [f for f in inside if f.endswith(".h")]:
        for match in re.finditer(r"\bclass\s+(\w+)\s*\{(.*?)^\};", tree.code(header), re.S | re.M):
            if re.search(r"\bname\(\)\s*const\s*=\s*0", match[2]):
                interfaces.add(match[1])
    for file in inside:
        if file.endswith(".cpp") and not file.endswith("_test.cpp"):
            for base in re.findall(r"\b(?:class|struct)\s+\w+\s+(?:final\s*)?:\s*(?:public\s+)?"
                                   r"(?:\w+::)*(\w+)", tree.code(file)):
                if base in interfaces:
                    yield file, base
                    break


def check_page(file, text):
    headings = re.findall(r"^## (.+?)\s*$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    wanted = [h for h in headings if h in PAGE_SECTIONS]
    if wanted != PAGE_SECTIONS or headings[0] != PAGE_SECTIONS[0]:
        return [f"{file}:1: a model's page has the sections {', '.join(PAGE_SECTIONS)} in this "
                "order, Scope and limits first"]
    return []
