"""Tests of scripts/tidy: each rule on the smallest tree that breaks it, and on one that does not."""
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
from checks import headers, layers, registry, sizes, symbols, tree, words  # noqa: E402

LAYERS = "base:\nfabric: base\nengine: base fabric\nengine/flow: base fabric engine\n"


class TreeCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def one_fault(self, check, *parts):
        faults = check(tree.Tree(self.root))
        self.assertEqual(len(faults), 1, faults)
        for part in parts:
            self.assertIn(part, faults[0])

    def no_fault(self, check):
        self.assertEqual(check(tree.Tree(self.root)), [])


class Stripping(unittest.TestCase):
    def test_blanks_comments_and_literals_but_keeps_lines(self):
        code = tree.strip_cpp('a; // getenv(\n"rand( \\" {" /* {\n */ b\n')
        self.assertEqual(code, 'a; \n"" \n b\n')

    def test_raw_strings_and_digit_separators(self):
        self.assertEqual(tree.strip_cpp('x(R"y({"\n)y") + 1\'000;'), 'x(""\n) + 1\'000;')


class FunctionLengths(unittest.TestCase):
    def lengths(self, text):
        return {name: lines for name, _, lines in sizes.functions(tree.strip_cpp(text))}

    def test_counts_from_the_signature_to_the_closing_brace(self):
        # Lines: int f(int a, / int b) { / return a; / } = 4.
        self.assertEqual(self.lengths("int f(int a,\n      int b) {\n  return a;\n}\n"), {"f": 4})

    def test_sees_through_namespaces_classes_and_tables(self):
        text = """\
        namespace weft::x {
        constexpr int kTable[] = {1, 2, 3};
        class A : public B<int> {
         public:
          A(int a) : a_{a}, b_(a) {
            go();
          }
          int get() const { return a_; }
          int a_{3};
        };
        TEST(Suite, Name) {
          for (;;) {
          }
        }
        bool operator<(A, A) {
          return false;
        }
        }
        """
        self.assertEqual(self.lengths(text), {"A": 3, "get": 1, "Suite.Name": 4, "operator<": 3})

    def test_a_lambda_belongs_to_its_function(self):
        self.assertEqual(self.lengths("void f() {\n  g([] {\n  });\n}\n"), {"f": 4})

    def test_a_default_argument_is_no_body(self):
        self.assertEqual(self.lengths("void f(O o = {});\nint g() {\n}\n"), {"g": 2})


class Sizes(TreeCase):
    def function(self, lines):
        return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"

    def test_a_function_of_70_lines_passes_and_one_of_71_does_not(self):
        self.write("src/base/a.cpp", self.function(70))
        self.no_fault(sizes.check)
        self.write("src/base/a.cpp", self.function(71))
        self.one_fault(sizes.check, "src/base/a.cpp:1", "function f has 71 lines, 70 are allowed")

    def test_a_file_of_451_lines_is_too_long(self):
        self.write("src/base/a.h", "// x\n" * 451)
        self.one_fault(sizes.check, "file has 451 lines")

    def test_the_ratchet_allows_what_it_lists_and_no_more(self):
        self.write("src/base/a.cpp", self.function(80))
        self.write(sizes.RATCHET, "function src/base/a.cpp f 80\n")
        self.no_fault(sizes.check)
        self.write("src/base/a.cpp", self.function(81))
        self.one_fault(sizes.check, "81 lines, 80 are allowed")

    def test_the_ratchet_follows_down_but_never_up(self):
        self.write("src/base/a.cpp", self.function(75))
        self.write("src/base/b.cpp", self.function(90))
        self.write(sizes.RATCHET, "function src/base/a.cpp f 80\nfunction src/base/b.cpp f 85\n"
                                  "file src/base/gone.cpp 500\n")
        self.assertEqual(len(sizes.check(tree.Tree(self.root))), 3)
        sizes.update_ratchet(tree.Tree(self.root))
        self.assertEqual(sizes.read_ratchet(tree.Tree(self.root)),
                         {("function", "src/base/a.cpp", "f"): 75,
                          ("function", "src/base/b.cpp", "f"): 85})

    def test_101_columns_are_one_too_many(self):
        self.write("src/base/a.cpp", "//" + "x" * 99 + "\n")
        self.one_fault(sizes.check, "101 columns")


class Symbols(TreeCase):
    def test_each_banned_symbol_is_found(self):
        for line in ('auto x = getenv("A");', "std::cout << 1;", "printf();", "fmt::print(x);",
                     "int a = rand();", "std::random_device d;", "std::mt19937 g;", "exit(1);",
                     "auto t = std::chrono::system_clock::now();", "auto t = time(nullptr);",
                     "for (int i : std::views::iota(0, 3)) {}", "using namespace std;",
                     "class LinkManager {", "struct Context {", "#define FOO 1"):
            with self.subTest(line):
                self.write("src/fabric/a.cpp", line + "\n")
                self.one_fault(symbols.check, "src/fabric/a.cpp:1")

    def test_lookalikes_are_let_be(self):
        self.write("src/fabric/a.cpp", """\
            // getenv( in a comment, and "std::cout" in a text:
            auto s = "printf(";
            int snprintf_like = path.time(bytes) + strand(3) + on_exit(2);
            Duration time(Bytes size);
            class FileSystem;
            #define CHECK(x) x
            #define X(name) name
            """)
        self.no_fault(symbols.check)

    def test_the_program_may_print_and_exit_but_not_draw_from_rand(self):
        self.write("src/app/main.cpp", "int main() { std::cout << 1; exit(rand()); }\n")
        self.one_fault(symbols.check, "rand(")

    def test_iterating_over_an_unordered_container_is_found(self):
        self.write("src/fabric/a.h", "std::unordered_map<int, std::vector<int>> by_name_;\n")
        self.write("src/fabric/a.cpp", "void f() { by_name_.find(3); }\n")
        self.no_fault(symbols.check)
        self.write("src/fabric/a.cpp", "void f() { for (auto& [k, v] : by_name_) g(k); }\n")
        self.one_fault(symbols.check, "iterates over unordered 'by_name_'")


class Headers(TreeCase):
    def test_a_header_opens_with_a_comment_is_guarded_and_used(self):
        self.write("src/base/a.h", "// What it is,\n// and what not.\n#pragma once\n")
        self.write("src/base/b.cpp", '#include "base/a.h"\n')
        self.no_fault(headers.check)

    def test_no_comment(self):
        self.write("src/base/a.h", "#pragma once\n")
        self.write("src/base/b.cpp", '#include "base/a.h"\n')
        self.one_fault(headers.check, "this one has 0")

    def test_no_guard(self):
        self.write("src/base/a.h", "// What.\nint x;\n")
        self.write("src/base/b.cpp", '#include "base/a.h"\n')
        self.one_fault(headers.check, "src/base/a.h:2", "#pragma once")

    def test_a_header_that_only_its_own_source_and_test_include_is_dead(self):
        self.write("src/base/a.h", "// What.\n#pragma once\n")
        self.write("src/base/a.cpp", '#include "base/a.h"\n')
        self.write("src/base/a_test.cpp", '#include "base/a.h"\n')
        self.one_fault(headers.check, "no other file includes")


class Layers(TreeCase):
    def setUp(self):
        super().setUp()
        self.write("src/LAYERS", LAYERS)
        for file in ("src/base/a.h", "src/fabric/a.h", "src/engine/flow/a.h"):
            self.write(file, "")

    def test_downwards_passes(self):
        self.write("src/engine/flow/b.cpp", '#include "engine/flow/a.h"\n#include "base/a.h"\n')
        self.no_fault(layers.check)

    def test_upwards_does_not(self):
        self.write("src/fabric/b.cpp", '#include "base/a.h"\n#include "engine/flow/a.h"\n')
        self.one_fault(layers.check, "src/fabric/b.cpp:2", "fabric may not include")

    def test_a_missing_header_and_a_bare_name_are_found(self):
        self.write("src/fabric/b.cpp", '#include "base/gone.h"\n')
        self.one_fault(layers.check, "there is no src/base/gone.h")
        self.write("src/fabric/b.cpp", '#include "a.h"\n')
        self.one_fault(layers.check, "not a path from src/")

    def test_a_layer_names_only_what_stands_above_it(self):
        self.write("src/LAYERS", "base: fabric\nfabric: base\nengine:\nengine/flow:\n")
        self.one_fault(layers.check, "src/LAYERS:1", "'fabric' has no line above")

    def test_a_folder_without_a_line_is_found(self):
        self.write("src/new/a.cpp", "")
        self.one_fault(layers.check, "has no line in src/LAYERS")

    def test_a_plugin_may_not_include_its_sibling(self):
        self.write("src/fabric/list.def", "X(torus)\nX(clos)\n")
        self.write("src/fabric/clos.h", "")
        self.write("src/fabric/torus.cpp", '#include "fabric/a.h"\n')
        self.no_fault(layers.check)
        self.write("src/fabric/torus.cpp", '#include "fabric/clos.h"\n')
        self.one_fault(layers.check, "plugin torus may not include its sibling")

    def test_links_of_cmake_obey_it_too(self):
        self.write("src/CMakeLists.txt", "weft_library(base LINK x)\nweft_library(fabric DEPENDS base)\n")
        self.no_fault(layers.check)
        self.write("src/CMakeLists.txt", "weft_library(fabric DEPENDS base engine)\n")
        self.one_fault(layers.check, "fabric links engine")


class Registry(TreeCase):
    PAGE = "# Torus\n" + "".join(f"## {name}\n" for name in registry.PAGE_SECTIONS)

    def setUp(self):
        super().setUp()
        self.write("src/topology/topology.h", "class Topology {\n virtual std::string_view name() "
                                              "const = 0;\n};\n")
        self.write("src/topology/list.def", "// rows\nX(torus)\n")
        self.write("src/topology/torus.cpp", "class Torus final : public Topology {\n};\n")
        self.write("docs/models/torus.md", self.PAGE)

    def test_one_file_one_line_one_page(self):
        self.no_fault(registry.check)

    def test_a_row_without_a_file(self):
        (self.root / "src/topology/torus.cpp").unlink()
        self.one_fault(registry.check, "row torus has no src/topology/torus.cpp")

    def test_a_row_without_a_page(self):
        (self.root / "docs/models/torus.md").unlink()
        self.one_fault(registry.check, "row torus has no page docs/models/torus.md")

    def test_a_plugin_without_a_row(self):
        self.write("src/topology/clos.cpp", "struct Clos : topology::Topology {\n};\n")
        self.one_fault(registry.check, "src/topology/clos.cpp", "has no row")

    def test_a_helper_needs_no_row(self):
        self.write("src/topology/registry.cpp", "int helper() { return 1; }\n")
        self.no_fault(registry.check)

    def test_scope_and_limits_come_first(self):
        self.write("docs/models/torus.md", self.PAGE.replace("## Scope and limits\n", "")
                   + "## Scope and limits\n")
        self.one_fault(registry.check, "docs/models/torus.md", "Scope and limits first")


class Words(TreeCase):
    def test_banned_words_are_found(self):
        for text in ("see PROTOCOLS 8.2", "DESIGN.md", "../shared/x", "/work/x", "TODO: later",
                     "A blazingly fast simulator"):
            with self.subTest(text):
                self.write("docs/a.md", text + "\n")
                self.one_fault(words.check, "docs/a.md:1")

    def test_ordinary_words_are_let_be(self):
        self.write("docs/a.md", "A shared link, protocols, a design, std::shared_ptr, scope.md\n")
        self.no_fault(words.check)


class Program(TreeCase):
    def run_tidy(self, *arguments):
        return subprocess.run([sys.executable, SCRIPTS / "tidy", "--root", self.root, *arguments],
                              capture_output=True, text=True, check=False)

    def test_exit_status_tells(self):
        self.write("src/LAYERS", LAYERS)
        self.assertEqual(self.run_tidy().returncode, 0)
        self.write("src/base/a.cpp", "int a = rand();\n")
        result = self.run_tidy()
        self.assertEqual(result.returncode, 1)
        self.assertIn("src/base/a.cpp:1: 'rand('", result.stdout)
        self.assertEqual(self.run_tidy("--only", "layers").returncode, 0)


if __name__ == "__main__":
    unittest.main()
