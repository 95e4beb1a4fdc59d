"""Source code is cut between definitions, and what belongs to one stays with it."""

# ruff: noqa: E501 - files of code, on lines that say one thing

import builtins
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.chunking import Chunk, split
from ragtrace.chunking.grammars import load_grammar
from tests.chunking.judging import check_chunks

LANGUAGES = ("c", "cpp", "go", "java", "javascript", "python", "rust", "tsx", "typescript")

# For each language a file, and what must never be cut at a size that holds the longest of them.
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "python": (
        '"""Module."""\n\nimport os\nfrom a import (\n    b,\n)\n\n# Says hello.\n@wraps(\n    b\n)\n'
        'def hello(name):\n    text = "def no():"\n    return text\n\n\nclass Store:\n    """Keeps."""\n'
        "\n    @property\n    def size(self):\n        return 1\n\n    async def get(self):\n"
        "        await self.x\n        return 2\n",
        (
            '"""Module."""\n\nimport os\nfrom a import (\n    b,\n)',
            '# Says hello.\n@wraps(\n    b\n)\ndef hello(name):\n    text = "def no():"\n    return text',
            "    @property\n    def size(self):\n        return 1",
            "    async def get(self):\n        await self.x\n        return 2",
        ),
    ),
    "javascript": (
        '#!/usr/bin/env node\n"use strict";\nimport a from "a";\nconst b = require("b");\n\n/** Adds. */\n'
        "export function add(x, y) {\n  return x + y; // }\n}\n\nexport const twice = (x) => {\n"
        "  const re = /[{}]/;\n\n  return x * 2;\n};\n",
        (
            '#!/usr/bin/env node\n"use strict";\nimport a from "a";\nconst b = require("b");',
            "/** Adds. */\nexport function add(x, y) {\n  return x + y; // }\n}",
            "export const twice = (x) => {\n  const re = /[{}]/;\n\n  return x * 2;\n};",
        ),
    ),
    "typescript": (
        'import { A } from "a";\n\n// A cart.\n@Injectable()\nexport class Cart {\n  private n = 0;\n\n'
        "  /** Adds. */\n  @Log()\n  add(k: number): this {\n    this.n += k;\n    return this;\n  }\n\n"
        "  clear(): void {\n    this.n = 0;\n    this.said = `gone }`;\n  }\n}\n",
        (
            "  /** Adds. */\n  @Log()\n  add(k: number): this {\n    this.n += k;\n    return this;\n  }",
            "  clear(): void {\n    this.n = 0;\n    this.said = `gone }`;\n  }",
        ),
    ),
    "tsx": (
        "// Shows a name.\nexport const Name = (props: Props) => {\n  return <b>{props.name}</b>;\n};\n\n"
        "function Other() {\n  return (\n    <div>\n      <i>x</i>\n    </div>\n  );\n}\n",
        (
            "// Shows a name.\nexport const Name = (props: Props) => {\n  return <b>{props.name}</b>;\n};",
            "function Other() {\n  return (\n    <div>\n      <i>x</i>\n    </div>\n  );\n}",
        ),
    ),
    "go": (
        '// Licence.\n\npackage store\n\nimport "fmt"\n\n// Size counts.\nfunc (s *Store) Size() int {\n'
        "\tn := 1\n\treturn n\n}\n\n// Store keeps.\ntype Store struct {\n\trows int\n}\n",
        (
            '// Licence.\n\npackage store\n\nimport "fmt"',
            "// Size counts.\nfunc (s *Store) Size() int {\n\tn := 1\n\treturn n\n}",
            "// Store keeps.\ntype Store struct {\n\trows int\n}",
        ),
    ),
    "rust": (
        "//! Crate.\n\nuse a::b;\nuse c::d;\n\n/// Keeps.\n#[derive(Debug)]\npub struct Store {\n    rows: u8,\n"
        "}\n\nimpl Store {\n    /// Counts.\n    #[inline]\n    fn size(&self) -> u8 {\n        self.rows\n    }\n"
        "\n    fn other(&self) -> u8 {\n        let x = '{';\n        self.rows\n    }\n}\n",
        (
            "//! Crate.\n\nuse a::b;\nuse c::d;",
            "/// Keeps.\n#[derive(Debug)]\npub struct Store {\n    rows: u8,\n}",
            "    /// Counts.\n    #[inline]\n    fn size(&self) -> u8 {\n        self.rows\n    }",
            "    fn other(&self) -> u8 {\n        let x = '{';\n        self.rows\n    }",
        ),
    ),
    "java": (
        "package a.b;\n\nimport c.D;\n\n/** Keeps. */\n@Bean\npublic class Store extends D {\n    int rows;\n\n"
        "    /** Counts. */\n    @Override\n    public int size() {\n        return rows;\n    }\n\n"
        '    void say() {\n        String s = "} no";\n        print(s);\n    }\n}\n',
        (
            "package a.b;\n\nimport c.D;",
            "    /** Counts. */\n    @Override\n    public int size() {\n        return rows;\n    }",
            '    void say() {\n        String s = "} no";\n        print(s);\n    }',
        ),
    ),
    "c": (
        "/* Licence. */\n#include <a.h>\n#include <b.h>\n\n// Adds.\nstatic int\nadd(int a, int b)\n{\n"
        "  return a + b;\n}\n\nstruct point {\n  int x; /* } */\n  int y;\n};\n",
        (
            "/* Licence. */\n#include <a.h>\n#include <b.h>",
            "// Adds.\nstatic int\nadd(int a, int b)\n{\n  return a + b;\n}",
            "struct point {\n  int x; /* } */\n  int y;\n};",
        ),
    ),
    "cpp": (
        "#include <a>\n\nnamespace n {\n\n// Keeps.\ntemplate <class T>\nclass Store {\n public:\n"
        "  // Counts.\n  int size() const {\n    return rows;\n  }\n\n private:\n  int rows;\n};\n\n"
        "int Store::other() {\n  return '}';\n}\n\n}  // namespace n\n",
        (
            "  // Counts.\n  int size() const {\n    return rows;\n  }",
            "int Store::other() {\n  return '}';\n}",
        ),
    ),
}  # fmt: skip


def holding(chunks: Sequence[Chunk], part: str) -> Chunk:
    [found] = [chunk for chunk in chunks if part in chunk.text]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_belongs_together_is_never_cut(language: str) -> None:
    text, parts = FILES[language]
    least = max(map(len, parts))
    for size in range(least, least + 60, 7):
        chunks = split(text, format="code", language=language, chunk_size=size, length="characters")
        check_chunks(text, chunks, size, len)
        assert {chunk.kind for chunk in chunks} == {"code"}
        for part in parts:
            assert any(part in chunk.text for chunk in chunks), (size, part)


@pytest.mark.parametrize("language", LANGUAGES)
def test_line_ends_and_foreign_letters_change_no_cut(language: str) -> None:
    text, parts = FILES[language]
    size = max(len(part) + part.count("\n") for part in parts) + len("\ufeff")
    crlf = "\ufeff" + text.replace("\n", "\r\n").replace("Keeps", "保持🐟é")
    chunks = split(crlf, format="code", language=language, chunk_size=size, length="characters")
    check_chunks(crlf, chunks, size, len)
    for part in parts:
        wanted = part.replace("\n", "\r\n").replace("Keeps", "保持🐟é")
        assert any(wanted in chunk.text for chunk in chunks), part


PIECES = [
    line + end
    for text, _ in FILES.values()
    for line in text.splitlines()[::2]
    for end in ("\n", " ", "\r\n")
] + [
    "{",
    "}",
    "((",
    "'''",
    '"""',
    "/*",
    "*/",
    "`",
    "\\\n",
    "\t",
    "é",
    "🐟",
    "\ud800",
    "\x00",
    "#if X\n",
]


@settings(max_examples=200)
@given(
    text=st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
    language=st.sampled_from(LANGUAGES),
    budget=st.integers(5, 80),
)
def test_broken_code_keeps_every_promise(text: str, language: str, budget: int) -> None:
    chunks = split(text, format="code", language=language, chunk_size=budget, length="characters")
    check_chunks(text, chunks, budget, len)


MODULES: Mapping[str, str] = {
    name: inspect.getsource(importlib.import_module(name))
    for name in ("json.decoder", "textwrap", "dataclasses", "argparse")
}


@pytest.mark.parametrize("name", MODULES)
def test_functions_of_real_modules_that_fit_are_whole(name: str) -> None:
    import ast

    text = MODULES[name]
    lines = text.splitlines(keepends=True)
    chunks = split(text, format="code", language="python", chunk_size=300, length="words")
    check_chunks(text, chunks, 300, lambda content: len(content.split()))
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        start = sum(map(len, lines[:first]))
        source = "".join(lines[first : node.end_lineno]).rstrip()
        if len(source.split()) <= 300:
            assert any(a <= start and start + len(source) <= b for a, b in spans), node.name


def test_paths_name_the_definitions_that_hold_a_chunk() -> None:
    text, _ = FILES["python"]
    chunks = split(text, format="code", language="python", chunk_size=56, length="characters")
    assert holding(chunks, "return 1").heading_path == ("Store", "size")
    assert holding(chunks, "await self.x").heading_path == ("Store", "get")


@pytest.mark.parametrize(
    ("language", "text", "path"),
    [
        ("go", FILES["go"][0], ("Store.Size",)),
        ("rust", FILES["rust"][0], ("Store", "size")),
        ("java", FILES["java"][0], ("Store", "size")),
        ("cpp", FILES["cpp"][0], ("n", "Store", "size")),
        ("c", "int *(size)(void) {\n  return 0;\n}\n", ("size",)),
        ("typescript", "namespace N {\n  interface size {\n    a: 1\n  }\n}\n" * 2, ("N", "size")),
        ("javascript", "const size = function () {\n  return 1;\n};\n", ("size",)),
    ],
)
def test_definitions_of_every_language_have_names(
    language: str, text: str, path: tuple[str, ...]
) -> None:
    chunks = split(text, format="code", language=language, chunk_size=36, length="characters")
    assert path in {p for chunk in chunks for p in chunk.heading_paths}


def test_a_function_over_the_budget_is_cut_between_statements_and_its_head_leads() -> None:
    body = "".join(f"    if a{n}:\n        b = {n}\n" for n in range(20))
    text = f"def long(a):\n{body}"
    chunks = split(text, format="code", language="python", chunk_size=60, length="characters")
    assert chunks[0].text.startswith("def long(a):\n    if a0:\n        b = 0")
    for chunk in chunks[1:]:
        assert chunk.text.startswith("    if a")
    assert {chunk.heading_path for chunk in chunks} == {("long",)}


def test_code_in_one_line_is_cut_between_statements() -> None:
    text = "".join(f"function f{n}(){{return {n}}}" for n in range(50))
    chunks = split(text, format="code", language="javascript", chunk_size=50, length="characters")
    assert all(chunk.text.startswith("function") and chunk.text.endswith("}") for chunk in chunks)


def test_a_comment_that_stands_alone_is_not_torn_from_its_lines() -> None:
    text = "# One.\n# Two.\n\nx = 1\n"
    chunks = split(text, format="code", language="python", chunk_size=13, length="characters")
    assert [chunk.text for chunk in chunks] == ["# One.\n# Two.", "x = 1"]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "x = " + "[" * 10_000 + "]" * 10_000,
        "a();" * 50_000,
        "if (a) {\n" * 10_000,
        'x = "' + "word " * 50_000,
        "x" + "\n.a()" * 20_000,
    ],
    ids=["open", "nested", "one line", "blocks", "string", "chain"],
)
def test_hostile_code_is_split_in_linear_time(text: str) -> None:
    chunks = split(text, format="code", language="javascript", chunk_size=1000, length="characters")
    check_chunks(text, chunks, 1000, len)


@pytest.mark.parametrize("language", [None, "", "cobol"])
def test_an_unknown_language_is_refused_with_the_known_ones(language: str | None) -> None:
    with pytest.raises(ValueError, match=r"give one of c, cpp, go, java, javascript, python"):
        split("x", format="code", language=language)


def test_a_missing_grammar_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "tree_sitter":
            raise ImportError(name)
        return real(name, *args)

    load_grammar.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"tree-sitter-go: pip install 'ragtrace-kit\[code\]'"):
        split("package a", format="code", language="go")
