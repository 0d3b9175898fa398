"""src/LAYERS against every #include and against the links of src/CMakeLists.txt."""
import re

LAYERS = "src/LAYERS"


def read_layers(tree):
    """({folder: set of folders it may include}, faults). A layer may name only lines above it."""
    layers, faults = {}, []
    for number, line in enumerate(tree.text(LAYERS).splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        folder, _, allowed = line.partition(":")
        for name in allowed.split():
            if name not in layers:
                faults.append(f"{LAYERS}:{number}: '{name}' has no line above that of '{folder}'")
        layers[folder.strip()] = set(allowed.split())
    return layers, faults


def folder_of(path, layers):
    """The layer that a path such as "engine/flow/solver.h" belongs to: its longest known prefix."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in layers:
            return "/".join(parts)
        parts.pop()
    return None


def rows(tree, folder):
    """Names of the list.def of a plugin folder; empty when there is none."""
    file = f"src/{folder}/list.def"
    if not tree.exists(file):
        return []
    return re.findall(r"^\s*X\(\s*(\w+)", re.sub(r"//.*", "", tree.text(file)), re.M)


def check(tree):
    if not tree.exists(LAYERS):
        return [f"{LAYERS}:1: missing"]
    layers, faults = read_layers(tree)
    for file in tree.cpp_files("src"):
        inner = file.removeprefix("src/")
        folder = folder_of(inner, layers)
        if folder is None:
            if "/" in inner:
                faults.append(f"{file}:1: its folder has no line in {LAYERS}")
            continue
        plugins = set(rows(tree, folder))
        stem = inner.rsplit("/", 1)[1].rsplit(".", 1)[0].removesuffix("_test")
        text = tree.text(file)
        for match in re.finditer(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            where = f"{file}:{text.count(chr(10), 0, match.start()) + 1}"
            faults += _check_include(tree, where, match[1], folder, stem, layers, plugins)
    return faults + _check_links(tree, layers)


def _check_include(tree, where, name, folder, stem, layers, plugins):
    target = folder_of(name, layers)
    if "/" not in name or (target is None and not name.endswith(".inc")):
        return [f'{where}: "{name}" is not a path from src/; write "folder/file.h"']
    if name.endswith(".h") and not tree.exists(f"src/{name}"):
        return [f"{where}: there is no src/{name}"]
    if target not in (folder, None) and target not in layers[folder]:
        return [f'{where}: {folder} may not include "{name}"; its line in {LAYERS} does not name '
                f"{target}"]
    included = name.rsplit("/", 1)[1].rsplit(".", 1)[0]
    if target == folder and included in plugins and included != stem and stem in plugins:
        return [f'{where}: plugin {stem} may not include its sibling "{name}"']
    return []


def _check_links(tree, layers):
    """DEPENDS of src/CMakeLists.txt names only what the line of LAYERS names."""
    file = "src/CMakeLists.txt"
    if not tree.exists(file):
        return []
    faults = []
    for body in re.findall(r"weft_library\(([^)]*)\)", re.sub(r"#.*", "", tree.text(file))):
        words = body.split()
        linked = words[words.index("DEPENDS") + 1:] if "DEPENDS" in words else []
        linked = linked[:linked.index("LINK")] if "LINK" in linked else linked
        for name in linked:
            if name not in layers.get(words[0], set()):
                faults.append(f"{file}:1: {words[0]} links {name}, which its line in {LAYERS} does "
                              "not name")
    return faults
