"""Checks the includes: a module of src/ may include only the modules before it, and code outside
src/ may include only the public headers.

usage: layers.py [--self-test] REPOSITORY

Prints FILE:LINE and the reason for each forbidden include, and exits 1 if there is one. --self-test
plants forbidden includes in a copy of the repository and exits 1 unless it finds each at its line.
"""

import glob
import os
import re
import shutil
import sys
import tempfile

# Bottom to top: a module may include itself and the modules before it, except the pairs below.
MODULES = ["base", "compute", "comm", "data", "map", "objective", "optim", "exemplar", "classify", "model", "predict",
           "method", "solve", "train"]
INDEPENDENT = [{"data", "compute"}, {"comm", "compute"}, {"data", "comm"}] + [
    {a, b}
    for side in [["map", "objective", "optim", "exemplar", "classify"]]
    for i, a in enumerate(side)
    for b in side[i + 1:]
]
# These folders include the public headers and their own headers only.
BINDINGS = ["cli", "reproduce", "examples", "python"]
# reproduce also uses the common code of the programs, cli/core.
CORE = os.path.join("cli", "core")
# The Python module contains the page of enhope view.
PAGE = os.path.join("python", "module", "page.c")
VIEW = os.path.join("cli", "view")
# The benchmarks may include internal headers. No other folder includes the benchmarks.
INTERNAL_USERS = ["bench"]
STANDARD = {
    name + ".h"
    for name in (
        "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg"
        " stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype"
    ).split()
}
# Plug-ins: the only files that may include the headers of these libraries.
PLUGINS = {
    os.path.join("src", "comm", "mpi", "mpi.c"): ("mpi.h", "mpi-ext.h"),
    os.path.join("src", "data", "image", "image.c"): ("png.h", "jpeglib.h", "jerror.h"),
    os.path.join("cli", "plot", "canvas_cairo.c"): ("cairo.h", "cairo-pdf.h", "cairo-svg.h"),
    os.path.join("cli", "serve", "http_microhttpd.c"): ("microhttpd.h",),
}
# The command loads its plug-ins and decodes text with the code of the library: these headers include no other.
SHARED = [os.path.join("src", "base", name) for name in ("plugin.h", "utf8.h")]
PUBLIC = [os.path.join("include", name) for name in ("enhope.h", "enhope_advanced.h")]
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def sources(root):
    for top in ["include", "src"] + BINDINGS + INTERNAL_USERS:
        for path in sorted(glob.glob(os.path.join(root, top, "**", "*"), recursive=True)):
            if path.endswith((".c", ".h", ".cu")):
                yield os.path.relpath(path, root)


def resolve(root, path, quote, target):
    """The file of the repository that an #include names, or None."""
    places = ["include", "src"]
    if quote == '"':
        places[:0] = [os.path.dirname(path)] + (["cli"] if path.split(os.sep)[0] in ("cli", "reproduce", "python") else [])
    for place in places:
        found = os.path.normpath(os.path.join(place, target))
        if os.path.isfile(os.path.join(root, found)):
            return found
    return None


def module_of(path):
    parts = path.split(os.sep)
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def check(path, quote, target, found):
    """Why the file at path may not include target; None if it may."""
    top = path.split(os.sep)[0]
    for plugin, headers in PLUGINS.items():
        if os.path.basename(target) in headers and path != plugin:
            return f"only {plugin} includes {target}"
    if found is None and quote == '"':
        return f'"{target}" is not a file of this repository'
    if top == "include":
        good = (quote == "<" and target in STANDARD) or (path, found) == (PUBLIC[1], PUBLIC[0])
        return None if good else "public headers may include standard headers only"
    if found is None or found in PUBLIC:
        return None
    if top in BINDINGS:
        if found.split(os.sep)[0] == top or (top == "reproduce" and os.path.dirname(found) == CORE):
            return None
        if (top == "cli" and found in SHARED) or (path == PAGE and os.path.dirname(found) == VIEW):
            return None
        return f"{top} may include the public headers and its own only, not {found}"
    other = module_of(found)
    if top in INTERNAL_USERS:
        return None if other or found.split(os.sep)[0] == top else f"{top} may not include {found}"
    module = module_of(path)
    if other not in MODULES:
        return f"{found} is not in a module of src/"
    if path in SHARED:
        return f"{path} may include standard headers only, because the command uses it"
    if module == other:
        return None
    if {module, other} in INDEPENDENT:
        return f"{module} and {other} are independent: neither may include the other"
    if MODULES.index(other) > MODULES.index(module):
        return f"{module} may not include {other}, a higher module"
    return None


def forbidden_includes(root):
    for path in sources(root):
        if path.startswith("src" + os.sep) and module_of(path) not in MODULES:
            yield path, 1, "is not in a module of src/: " + ", ".join(MODULES)
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if match:
                    quote, target = match.groups()
                    reason = check(path, quote, target, resolve(root, path, quote, target))
                    if reason:
                        yield path, number, reason


# (file, forbidden include at its line 1): the check must report each.
PLANTED = [
    ("src/base/planted.c", '#include "compute/compute.h"'),
    ("src/compute/planted.c", '#include "data/data.h"'),
    ("src/data/read/planted.c", '#include "compute/compute.h"'),
    ("src/map/planted.c", '  #  include "../optim/optim.h"'),
    ("src/objective/planted.c", "#include <map/map.h>"),
    ("src/exemplar/planted.c", '#include "classify/classify.h"'),
    ("src/model/planted.c", '#include "method/method.h"'),
    ("src/comm/planted.c", "#include <mpi.h>"),
    ("src/data/read/planted3.c", "#include <png.h>"),
    ("cli/plot/planted.c", "#include <cairo.h>"),
    ("cli/serve/planted.c", "#include <microhttpd.h>"),
    ("src/comm/planted.h", '#include "compute/compute.h"'),
    ("src/method/planted.c", '#include "train/trainer.h"'),
    ("src/solve/planted.c", '#include "train/trainer.h"'),
    ("src/train/planted.c", "#include <openmpi/mpi.h>"),
    ("src/elsewhere/planted.c", "#include <stdio.h>"),
    ("src/base/planted.h", '#include "no/such.h"'),
    ("cli/planted.c", '#include "base/base.h"'),
    ("cli/core/planted.c", '#include "base/base.h"'),
    ("src/base/utf8.h", '#include "base/base.h"'),
    ("reproduce/planted.c", '#include "plot/canvas.h"'),
    ("examples/planted.c", '#include "../src/model/model.h"'),
    ("include/planted.h", "#include <zlib.h>"),
    ("include/planted2.h", '#include "enhope.h"'),
]
# The check must report none of these.
ALLOWED = [
    ("src/map/good.c", '#include "compute/compute.h"\n#include "map/map.h"\n#include <zlib.h>'),
    ("src/model/good.c", '#include "classify/classify.h"\n#include "data/data.h"'),
    ("cli/good.c", '#include "good.h"\n#include <enhope.h>\n#include "enhope.h"'),
    ("cli/good.h", "#include <stdio.h>"),
    ("cli/plot/good.c", '#include "base/plugin.h"\n#include "base/utf8.h"'),
    ("reproduce/good.c", '#include "core/cli.h"\n#include <enhope_advanced.h>'),
    ("bench/good.c", '#include "method/method.h"'),
]


def self_test(root):
    with tempfile.TemporaryDirectory() as copy:
        for top in ["include", "src"] + BINDINGS + INTERNAL_USERS:
            if os.path.isdir(os.path.join(root, top)):
                shutil.copytree(os.path.join(root, top), os.path.join(copy, top))
        before = {(path, line) for path, line, _ in forbidden_includes(copy)}
        for path, text in PLANTED + ALLOWED:
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        found = {(path, line) for path, line, _ in forbidden_includes(copy)} - before
    wanted = {(path, 1) for path, _ in PLANTED}
    for path, line in sorted(wanted - found):
        print(f"{path}:{line}: planted but not reported")
    for path, line in sorted(found - wanted):
        print(f"{path}:{line}: reported but not planted")
    if found != wanted:
        return 1
    print(f"{len(PLANTED)} planted includes, all reported, and no other")
    return 0


def main():
    arguments = sys.argv[1:]
    testing = arguments[:1] == ["--self-test"]
    if testing:
        arguments = arguments[1:]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    if testing:
        return self_test(arguments[0])
    found = list(forbidden_includes(arguments[0]))
    for path, line, reason in found:
        print(f"{path}:{line}: {reason}")
    if not found:
        print(f"{sum(1 for _ in sources(arguments[0]))} files, no forbidden include")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
