"""Compares the sizes of structs, functions, files, folders and of the public API with limits.

usage: measures.py REPOSITORY ENHOPE
       measures.py --self-test REPOSITORY

Prints the largest of each kind and every place above a limit, and exits 1 if a limit is exceeded.
--self-test plants one violation of each kind in a copy of the repository and exits 1 unless it finds
each of them.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOPS = ["src", "cli", "reproduce"]
HEADER = os.path.join("include", "enhope.h")
LIMITS = {
    "fields of a struct": 25,  # pointers to functions are not counted: each is an operation of an interface
    "lines of a function": 60,
    "lines of a file": 500,
    "files in a folder": 16,
    "lines of enhope.h": 260,
    "functions of enhope.h": 45,
    "settings": 41,
}


def sources(root, tops=TOPS):
    for top in tops:
        for path in sorted(glob.glob(os.path.join(root, top, "**", "*"), recursive=True)):
            if path.endswith((".c", ".h", ".cu", ".cuh")):
                yield os.path.relpath(path, root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def bare(text):
    """The text without comments, literals and preprocessor lines; line numbers are unchanged."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def closing(text, at):
    """The index of the brace that closes the one at index `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    return len(text)


def count_fields(body):
    """Members of a struct. Pointers to functions do not count. A nested struct with a name counts as one member, because it
    is measured itself; the members of an anonymous one count."""
    for start, replacement in ((r"\b(?:struct|union)\b[^{};]*\{", None), (r"\)\s*\{", "();"), (r"\benum\b[^{};]*\{", "enum")):
        while match := re.search(start, body):  # the body of a function counts as nothing
            end = closing(body, match.end() - 1)
            rest = body[end + 1:]
            if replacement is None and re.match(r"\s*;", rest):
                replaced = body[match.end():end]
            elif replacement is None:
                replaced = "nested"
            else:
                replaced = replacement
            body = body[:match.start()] + replaced + rest
    fields = 0
    for member in body.split(";"):
        member = re.sub(r"\[[^\]]*\]|<[^<>]*>|=.*|__attribute__\s*\(\(.*?\)\)", "", member, flags=re.S)
        if member.strip() and "(" not in member:  # not a function or a pointer to one
            fields += member.count(",") + 1
    return fields


def structs(text):
    """(line, name, fields) of each struct, nested ones included."""
    for match in re.finditer(r"\b(?:struct|union)\b([^{};()]*)\{", text):
        end = closing(text, match.end() - 1)
        after = re.match(r"\s*(\w*)", text[end + 1:]).group(1)
        name = match.group(1).split() or [after or "?"]
        yield text.count("\n", 0, match.start()) + 1, name[-1], count_fields(text[match.end():end])


def functions(text):
    """(line, name, lines) of each function. Its braces are at the beginning of a line."""
    for match in re.finditer(r"^([A-Za-z_][^;{}=]*\))\s*\n\{", text, re.M):
        first = text.count("\n", 0, match.start()) + 1
        last = text.count("\n", 0, closing(text, match.end() - 1)) + 1
        name = re.search(r"(\w+)\s*\(", match.group(1))
        yield first, name.group(1) if name else "?", last - first + 1


def measure(root):
    """(measure, size, place) of everything that has a limit."""
    folders = {}
    for path in sources(root):
        text = read(root, path)
        code = bare(text)
        folders.setdefault(os.path.dirname(path), []).append(path)
        yield "lines of a file", text.count("\n"), path
        for line, name, fields in structs(code):
            yield "fields of a struct", fields, f"{path}:{line} {name}"
        for line, name, lines in functions(code):
            yield "lines of a function", lines, f"{path}:{line} {name}"
    for folder, paths in folders.items():
        yield "files in a folder", len(paths), folder
    header = read(root, HEADER)
    yield "lines of enhope.h", header.count("\n"), HEADER
    yield "functions of enhope.h", len(re.findall(r"^ENHOPE_API\b", header, re.M)), HEADER
    for line, name, fields in structs(bare(header)):
        yield "fields of a struct", fields, f"{HEADER}:{line} {name}"


def count_settings(command):
    listed = subprocess.run([command, "methods", "--settings", "--json"], capture_output=True, text=True, check=True)
    return len(json.loads(listed.stdout))


def report(root, command):
    """Prints the table and returns the number of failures."""
    found = list(measure(root)) + [("settings", count_settings(command), "enhope methods --settings")]
    failures = 0
    for name, limit in LIMITS.items():
        sizes = sorted((entry for entry in found if entry[0] == name), key=lambda entry: -entry[1])
        over = [entry for entry in sizes if entry[1] > limit]
        verdict = "  too many" if over else ""
        largest = sizes[0] if sizes else (name, 0, "nothing found")
        print(f"{name:24}{largest[1]:6} of at most {limit:4}{verdict:12}{largest[2]}")
        for _, size, place in over[1:]:
            print(f"{'':24}{size:6}{'':27}{place}")
        if not sizes or over:
            failures += 1
    lines = sum(size for name, size, path in found if name == "lines of a file" and path.split(os.sep)[0] in ("src", "cli"))
    print(f"{'lines of src and cli':24}{lines:6}")
    return failures


PLANTED = {
    "fields of a struct": ("src/base/planted.h", "struct outer {\n    struct {\n" + "    int a, *b[3];\n" * 13 + "    } nested;\n};\n"),
    "lines of a function": ("cli/planted.c", "void planted(int a,\n             int b)\n{\n" + "    a++;\n" * 58 + "}\n"),
    "lines of a file": ("reproduce/planted.c", "\n" * 501),
}
ALLOWED = ("src/base/good.h", "struct good {\n" + "    int (*f)(int a, int b);\n" * 30 + "    struct { int x; } y;\n};\n")


def self_test(root):
    with tempfile.TemporaryDirectory() as copy:
        for top in TOPS + ["include"]:
            shutil.copytree(os.path.join(root, top), os.path.join(copy, top))
        before = {(name, place) for name, size, place in measure(copy) if size > LIMITS[name]}
        for path, text in list(PLANTED.values()) + [ALLOWED]:
            with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
                file.write(text)
        found = {(name, place) for name, size, place in measure(copy) if size > LIMITS[name]} - before
    wanted = {(name, path) for name, (path, _) in PLANTED.items()}
    got = {(name, re.split("[: ]", place)[0]) for name, place in found if name != "files in a folder"}
    for name, path in sorted(wanted ^ got):
        print(f"{path}: {name}: {'planted but not reported' if (name, path) in wanted else 'reported but not planted'}")
    return int(wanted != got)


def main():
    arguments = sys.argv[1:]
    if len(arguments) != 2:
        sys.exit(__doc__)
    return self_test(arguments[1]) if arguments[0] == "--self-test" else int(report(*arguments) > 0)


if __name__ == "__main__":
    sys.exit(main())
