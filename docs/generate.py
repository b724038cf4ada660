#!/usr/bin/env python3
"""Writes the parts of the reference that come from the headers and from the manual page.

usage: generate.py filter HEADER    a public header with Doxygen comments, on standard output
       generate.py pages FOLDER     c-api.md, c-api-advanced.md and cli.md
       generate.py tables ENHOPE    the tables in reference/methods.md and reference/settings.md, in their place
"""

import os
import re
import subprocess
import sys
import textwrap

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECTION = re.compile(r"/\* ---- (.*) ---- \*/\n")


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def group_name(header, number):
    return f"{os.path.basename(header)[:-2]}_{number}"


def filter_header(header):
    """Sections become Doxygen groups, and every other comment a Doxygen comment."""
    opening, _, text = read(header).partition("*/\n")
    text = "\n" * (opening.count("\n") + 1) + text.replace("@", "\\@")
    # A comment that follows code on its line belongs to that code.
    text = re.sub(r"(\S[^\n]*?)/\*(?! ----)", lambda m: m.group(1) + "/**<", text)
    text = re.sub(r"(^|\n)( *)/\*(?! ----)", r"\1\2/**", text)
    parts = SECTION.split(text)
    out = parts[0]
    for number, (title, body) in enumerate(zip(parts[1::2], parts[2::2])):
        body, guard, rest = body.partition("#ifdef __cplusplus")
        out += f"/** @defgroup {group_name(header, number)} {title}\n@{{ */\n{body}/** @}} */\n{guard}{rest}"
    return out


def c_page(header):
    """The opening comment of a header, then a heading and a group for each section."""
    text = read("include", header)
    opening = text.partition("*/")[0].replace("/* ", "", 1)
    opening = re.sub(r"(?m)^ \* ?", "", opening)
    opening = re.sub(r"(?m)((?:^  +.*\n)+)(?=\n)", lambda m: "```c\n" + textwrap.dedent(m.group(1)) + "```\n", opening, count=1)
    opening = re.sub(r"(?m)^(\S.*:\n)(?= -)", r"\1\n", opening)
    opening = "```".join(part if i % 2 else re.sub(r"`?\b(enhope_\w+(?:\.h|\(\w+\))?)`?", r"`\1`", part)
                         for i, part in enumerate(opening.split("```")))
    out = [opening.strip(), ""]
    for number, title in enumerate(SECTION.findall(text)):
        out += [f"## {title[0].upper()}{title[1:]}", "", "```{eval-rst}",
                f".. doxygengroup:: {group_name(header, number)}", "   :content-only:", "   :members:", "```", ""]
    return "\n".join(out)


def inline(text):
    """Fonts and escapes of one line of the manual page."""
    text = re.sub(r"\\fB(.*?)\\fR", lambda m: "`" + m.group(1) + "`" if m.group(1) else "", text)
    text = re.sub(r"\\fI(.*?)\\fR", lambda m: "*" + m.group(1) + "*", text)
    text = text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    text = "`".join(part if i % 2 else re.sub(r"(?<![\w-])(--?[a-z][\w-]*)", r"`\1`", part)
                    for i, part in enumerate(text.split("`")))
    return "`".join(part if i % 2 else re.sub(r"([<>\[\]_|$])", r"\\\1", part) for i, part in enumerate(text.split("`")))


def manual_page():
    """The manual page, which the command writes from its tables, as Markdown."""
    out, state = [], "text"
    for line in read("man", "enhope.1").splitlines():
        request, _, rest = line.partition(" ")
        if request in ('.\\"', ".TH"):
            continue
        if request in (".EX", ".EE"):
            state = "example" if request == ".EX" else "text"
            out += ["```sh"] if request == ".EX" else ["```", ""]
        elif state == "example":
            out.append(line.replace("\\-", "-"))
        elif request in (".SH", ".SS"):
            state = "text"
            out += ["", "## " + rest.capitalize() if request == ".SH" else "### " + rest, ""]
        elif request in (".TP", ".PP"):
            state = "term" if request == ".TP" else "text"
            out.append("")
        elif request == ".br":
            out[-1] += "\\"
        else:
            out.append((": " if state == "definition" else "") + inline(line))
            state = "definition" if state == "term" else "text"
    return "\n".join(out) + "\n"


def update_table(page, command):
    """Replaces the table between <!-- enhope ARGUMENTS --> and <!-- end --> by the output of the command."""
    text = read("docs", "reference", page)
    begin, arguments, end = re.search(r"(?s)(.*<!-- enhope ([^>]*) -->\n).*?(<!-- end -->.*)", text).groups()
    table = subprocess.check_output([command, *arguments.split()], text=True)
    with open(os.path.join(TOP, "docs", "reference", page), "w", encoding="utf-8") as file:
        file.write(begin + table + end)


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "filter":
        sys.stdout.write(filter_header(arguments[1]))
    elif len(arguments) == 2 and arguments[0] == "pages":
        os.makedirs(arguments[1], exist_ok=True)
        for name, text in (("c-api.md", c_page("enhope.h")), ("c-api-advanced.md", c_page("enhope_advanced.h")),
                           ("cli.md", manual_page())):
            with open(os.path.join(arguments[1], name), "w", encoding="utf-8") as file:
                file.write(text)
    elif len(arguments) == 2 and arguments[0] == "tables":
        update_table("methods.md", arguments[1])
        update_table("settings.md", arguments[1])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
