"""The files of a checkout, read once."""
import functools
import pathlib

SKIPPED_FOLDERS = {".git", "build", ".ccache", "__pycache__", "node_modules", ".cache"}
TEXT_SUFFIXES = {".h", ".cpp", ".py", ".md", ".txt", ".cmake", ".json", ".yaml", ".yml", ".def",
                 ".svg", ".xml", ".js", ".ts", ".html", ".css", ""}


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    @functools.cache
    def files(self):
        """Every file, as paths relative to the root with forward slashes, sorted."""
        found = []
        for folder in sorted(self.root.rglob("*")):
            relative = folder.relative_to(self.root)
            if SKIPPED_FOLDERS.isdisjoint(relative.parts) and folder.is_file():
                if not relative.parts[0].startswith("weft-run-"):
                    found.append(relative.as_posix())
        return found

    @functools.cache
    def text_files(self):
        return [f for f in self.files() if pathlib.PurePosixPath(f).suffix in TEXT_SUFFIXES]

    def cpp_files(self, *folders):
        """.h and .cpp under the given top folders (default src, tests and bench)."""
        folders = folders or ("src", "tests", "bench")
        return [f for f in self.files() if f.endswith((".h", ".cpp")) and f.split("/")[0] in folders]

    @functools.cache
    def text(self, file):
        return (self.root / file).read_text(encoding="utf-8", errors="replace")

    @functools.cache
    def code(self, file):
        """The text of a C++ file with comments and literals blanked."""
        return strip_cpp(self.text(file))

    def exists(self, file):
        return (self.root / file).is_file()


def strip_cpp(text):
    """Blanks comments and the insides of string and character literals; keeps every newline."""
    out = []
    i = 0
    while i < len(text):
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            end = len(text) if end < 0 else end + 2
        elif text.startswith('R"', i) and not (i and (text[i - 1].isalnum() or text[i - 1] == "_")):
            delimiter = text[i + 2:text.index("(", i)]
            end = text.find(f'){delimiter}"', i)
            end = len(text) if end < 0 else end + len(delimiter) + 2
            out.append('""')
        elif text[i] == '"' or (text[i] == "'" and not (i and text[i - 1].isalnum())):
            end = _end_of_literal(text, i)
            out.append(text[i] * 2)
        else:
            out.append(text[i])
            i += 1
            continue
        out.append("\n" * text.count("\n", i, end))
        i = end
    return "".join(out)


def _end_of_literal(text, start):
    i = start + 1
    while i < len(text) and text[i] != text[start] and text[i] != "\n":
        i += 2 if text[i] == "\\" else 1
    return min(i + 1, len(text))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
