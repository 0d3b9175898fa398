"""Tests of scripts/check_docs on small trees with a stand-in for the program."""
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
from docs import commands, markdown, parity  # noqa: E402


class Matching(unittest.TestCase):
    def test_dots_stand_for_text_and_for_lines(self):
        self.assertTrue(commands.matches(["took ... us"], ["took 12.5 us"]))
        self.assertTrue(commands.matches(["a", "...", "z"], ["a", "b", "c", "z"]))
        self.assertTrue(commands.matches(["a", "...", "z"], ["a", "z"]))
        self.assertFalse(commands.matches(["a", "z"], ["a", "b", "z"]))
        self.assertFalse(commands.matches(["took ... us"], ["took 12.5 ms"]))

    def test_other_text_is_literal(self):
        self.assertFalse(commands.matches(["1.5 (a)"], ["1x5 (a)"]))


class Eliding(unittest.TestCase):
    def test_an_update_leaves_out_what_was_left_out(self):
        self.assertEqual(commands.elide(["a", "...", "took ... s"], ["A", "b", "c", "took 3 s"]),
                         ["A", "...", "took ... s"])
        self.assertEqual(commands.elide(["a"], ["b", "c"]), ["b", "c"])


class Parsing(unittest.TestCase):
    def test_finds_commands_and_outputs(self):
        text = textwrap.dedent("""\
            ```console
            $ weft one \\
              --two
            out
            $ weft three
            ```

            ```sh
            weft four
            ```

            ```text
            four
            ```

            <!-- not run: it takes root -->
            ```sh
            sudo rm
            ```

            <!-- exit 2 -->
            ```sh
            weft bad
            ```
            Prose.
            ```text
            not its output
            ```
            """)
        found = [(c.text, c.expected, c.status) for c in commands.commands_of("a.md", text)]
        self.assertEqual(found, [("weft one \\\n  --two", ["out"], 0), ("weft three", [], 0),
                                 ("weft four", ["four"], 0), ("weft bad", None, 2)])

    def test_headings_inside_blocks_do_not_count(self):
        self.assertEqual(markdown.headings("# A\n```sh\n# not\n```\n## B\n"), [(1, "A"), (2, "B")])

    def test_links_and_anchors(self):
        self.assertEqual(markdown.links("[a](b.md#c) ![p](d.svg) `[no](x)`"), ["b.md#c", "d.svg"])
        self.assertEqual(markdown.anchor("Why shouldn't I use Weft?"), "why-shouldnt-i-use-weft")


class Parity(unittest.TestCase):
    PAGE = "[zh](README.zh-CN.md)\n# A\n## B\n```sh\nx\n```\n[d](docs/index.md)\n"
    OTHER = "[en](README.md)\n# 甲\n## 乙\n```sh\nx\n```\n[丁](docs/zh-CN/index.md)\n"

    def faults(self, other):
        return parity.compare("README.md", self.PAGE, "README.zh-CN.md", other)

    def test_equal_pages_pass(self):
        self.assertEqual(self.faults(self.OTHER), [])

    def test_each_difference_is_told(self):
        self.assertIn("heading levels", self.faults(self.OTHER.replace("## 乙", "### 乙"))[0])
        self.assertIn("code block 1 differs", self.faults(self.OTHER.replace("\nx", "\ny"))[0])
        self.assertIn("lacks the link to docs/index.md",
                      self.faults(self.OTHER.replace("docs/zh-CN/index.md", "README.md"))[0])


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("bin/weft", "#!/bin/sh\necho said $1; touch made; [ $1 != bad ] || exit 2\n")
        (self.root / "bin/weft").chmod(0o755)
        (self.root / "docs").mkdir()

    def write(self, file, text):
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text, encoding="utf-8")

    def check(self, *arguments):
        return subprocess.run([sys.executable, SCRIPTS / "check_docs", "--root", self.root, "--bin",
                               self.root / "bin", *arguments], capture_output=True, text=True,
                              check=False)

    def test_true_output_passes_and_leaves_nothing_behind(self):
        self.write("README.md", "```console\n$ weft a\nsaid a\n```\n")
        self.assertEqual(self.check().returncode, 0)
        self.assertFalse((self.root / "made").exists())

    def test_false_output_fails_and_update_mends_page_and_translation(self):
        page = "```console\n$ weft a\nsaid b\n$ weft c\nx\ny\n```\n"
        self.write("README.md", page)
        self.write("README.zh-CN.md", page)
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("README.md:2: $ weft a", result.stdout)
        self.assertEqual(self.check("--update").returncode, 0)
        mended = "```console\n$ weft a\nsaid a\n$ weft c\nsaid c\n```\n"
        self.assertEqual((self.root / "README.md").read_text(), mended)
        self.assertEqual((self.root / "README.zh-CN.md").read_text(), mended)

    def test_a_wrong_exit_status_fails(self):
        self.write("README.md", "```sh\nweft bad\n```\n")
        self.assertIn("exit status 2, expected 0", self.check().stdout)
        self.write("README.md", "<!-- exit 2 -->\n```sh\nweft bad\n```\n")
        self.assertEqual(self.check().returncode, 0)

    def test_what_is_left_to_ci_stands_there(self):
        self.write("README.md", "<!-- run by .ci/run -->\n```sh\nscripts/test   # all of it\n```\n")
        self.assertIn(".ci/run does not run 'scripts/test'", self.check().stdout)
        self.write(".ci/run", "scripts/test\n")
        self.assertEqual(self.check().returncode, 0)

    def test_dead_links_are_found(self):
        self.write("docs/a.md", "# A b\n[x](gone.md) [y](#a-b) [z](#c) [w](https://example.org/)\n")
        result = self.check("links")
        self.assertEqual(result.stdout.count("link to"), 2)
        self.assertIn("there is no docs/gone.md", result.stdout)
        self.assertIn("no heading", result.stdout)


if __name__ == "__main__":
    unittest.main()
