"""Who includes whom: each room of src/ knows only the rooms before it, and everything outside sees the public header only.

usage: layers.py [--self-test] REPOSITORY

Prints FILE:LINE and a sentence for each offence and exits 1 where there is one. --self-test plants offences in a copy of
the repository and exits 1 unless each of them is found at its line.
"""

import os
import re
import shutil
import sys
import tempfile

# Bottom to top: a room may include itself and the rooms before it, less the pairs below.
ROOMS = ["base", "compute", "comm", "data", "map", "objective", "optim", "exemplar", "classify", "model", "method", "solve",
         "train"]
STRANGERS = [{"data", "compute"}, {"comm", "compute"}, {"data", "comm"}] + [
    {a, b}
    for side in [["map", "objective", "optim", "exemplar", "classify"]]
    for i, a in enumerate(side)
    for b in side[i + 1:]
]
# They see the public headers and headers of their own.
FRONTS = ["cli", "reproduce", "examples", "python"]
# reproduce shares the ground of the command: cli/core.
CORE = os.path.join("cli", "core")
# The benchmark looks inside, but nobody includes it.
INSIDERS = ["bench"]
STANDARD = {
    name + ".h"
    for name in (
        "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg"
        " stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype"
    ).split()
}
# Plug-ins: the only file that sees a library, by the headers of that library.
PLUGINS = {
    os.path.join("src", "comm", "mpi", "mpi.c"): ("mpi.h", "mpi-ext.h"),
    os.path.join("src", "data", "mat", "mat.c"): ("matio.h",),
    os.path.join("cli", "plot", "canvas_cairo.c"): ("cairo.h", "cairo-pdf.h", "cairo-svg.h"),
}
# A header that stands alone: the command loads its plug-in by the code of the library.
PLUGIN_LOADER = os.path.join("src", "base", "plugin.h")
PUBLIC = [os.path.join("include", name) for name in ("enhope.h", "enhope_advanced.h")]
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def sources(root):
    for top in ["include", "src"] + FRONTS + INSIDERS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cu")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def resolve(root, path, quote, target):
    """The file of the repository that an #include means, or None."""
    places = ["include", "src"]
    if quote == '"':
        places[:0] = [os.path.dirname(path)] + (["cli"] if path.split(os.sep)[0] in ("cli", "reproduce") else [])
    for place in places:
        found = os.path.normpath(os.path.join(place, target))
        if os.path.isfile(os.path.join(root, found)):
            return found
    return None


def room_of(path):
    parts = path.split(os.sep)
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def judge(path, quote, target, found):
    """Why the file at path may not include target; None where it may."""
    top = path.split(os.sep)[0]
    for plugin, headers in PLUGINS.items():
        if os.path.basename(target) in headers and path != plugin:
            return f"only {plugin} includes {target}"
    if found is None and quote == '"':
        return f'"{target}" is no file of this repository'
    if top == "include":
        good = (quote == "<" and target in STANDARD) or (path, found) == (PUBLIC[1], PUBLIC[0])
        return None if good else "the public headers include standard headers only"
    if found is None or found in PUBLIC:
        return None
    if top in FRONTS:
        if found.split(os.sep)[0] == top or (top == "reproduce" and os.path.dirname(found) == CORE):
            return None
        if top == "cli" and found == PLUGIN_LOADER:
            return None
        return f"{top} sees the public headers and its own only, not {found}"
    other = room_of(found)
    if top in INSIDERS:
        return None if other or found.split(os.sep)[0] == top else f"{top} may not include {found}"
    room = room_of(path)
    if other not in ROOMS:
        return f"{found} is in no room of src/"
    if room == other:
        return None
    if {room, other} in STRANGERS:
        return f"{room} and {other} do not know each other"
    if ROOMS.index(other) > ROOMS.index(room):
        return f"{room} may not include {other}, which stands above it"
    return None


def offences(root):
    for path in sources(root):
        if path.startswith("src" + os.sep) and room_of(path) not in ROOMS:
            yield path, 1, "is in none of the rooms of src/: " + ", ".join(ROOMS)
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if match:
                    quote, target = match.groups()
                    reason = judge(path, quote, target, resolve(root, path, quote, target))
                    if reason:
                        yield path, number, reason


# (file, line that is planted at its top): each must be found, at line 1 of that file.
PLANTED = [
    ("src/base/planted.c", '#include "compute/compute.h"'),
    ("src/compute/planted.c", '#include "data/data.h"'),
    ("src/data/read/planted.c", '#include "compute/compute.h"'),
    ("src/map/planted.c", '  #  include "../optim/optim.h"'),
    ("src/objective/planted.c", "#include <map/map.h>"),
    ("src/exemplar/planted.c", '#include "classify/classify.h"'),
    ("src/model/planted.c", '#include "method/method.h"'),
    ("src/comm/planted.c", "#include <mpi.h>"),
    ("src/data/read/planted2.c", "#include <matio.h>"),
    ("cli/plot/planted.c", "#include <cairo.h>"),
    ("src/comm/planted.h", '#include "compute/compute.h"'),
    ("src/method/planted.c", '#include "train/trainer.h"'),
    ("src/solve/planted.c", '#include "train/trainer.h"'),
    ("src/train/planted.c", "#include <openmpi/mpi.h>"),
    ("src/elsewhere/planted.c", "#include <stdio.h>"),
    ("src/base/planted.h", '#include "no/such.h"'),
    ("cli/planted.c", '#include "base/base.h"'),
    ("cli/core/planted.c", '#include "base/base.h"'),
    ("reproduce/planted.c", '#include "plot/canvas.h"'),
    ("examples/planted.c", '#include "../src/model/model.h"'),
    ("include/planted.h", "#include <zlib.h>"),
    ("include/planted2.h", '#include "enhope.h"'),
]
# None of these is an offence.
ALLOWED = [
    ("src/map/good.c", '#include "compute/compute.h"\n#include "map/map.h"\n#include <zlib.h>'),
    ("src/model/good.c", '#include "classify/classify.h"\n#include "data/data.h"'),
    ("cli/good.c", '#include "good.h"\n#include <enhope.h>\n#include "enhope.h"'),
    ("cli/good.h", "#include <stdio.h>"),
    ("cli/plot/good.c", '#include "base/plugin.h"'),
    ("reproduce/good.c", '#include "core/cli.h"\n#include <enhope_advanced.h>'),
    ("bench/good.c", '#include "method/method.h"'),
]


def self_test(root):
    with tempfile.TemporaryDirectory() as copy:
        for top in ["include", "src"] + FRONTS + INSIDERS:
            if os.path.isdir(os.path.join(root, top)):
                shutil.copytree(os.path.join(root, top), os.path.join(copy, top))
        before = {(path, line) for path, line, _ in offences(copy)}
        for path, text in PLANTED + ALLOWED:
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        found = {(path, line) for path, line, _ in offences(copy)} - before
    wanted = {(path, 1) for path, _ in PLANTED}
    for path, line in sorted(wanted - found):
        print(f"{path}:{line}: planted and not found")
    for path, line in sorted(found - wanted):
        print(f"{path}:{line}: found and not planted")
    if found != wanted:
        return 1
    print(f"{len(PLANTED)} planted offences, each found; nothing else")
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
    found = list(offences(arguments[0]))
    for path, line, reason in found:
        print(f"{path}:{line}: {reason}")
    if not found:
        print(f"{sum(1 for _ in sources(arguments[0]))} files, each knows only what it may")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
