"""The commands of docs/guides/export.md as a shell script on standard output. Files that the page
shows ("Save this as `main.c`:") are written to FOLDER.

usage: guide.py PAGE FOLDER
"""

import os
import re
import sys

page, folder = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    text = file.read()
for before, language, block in re.findall(r"((?:[^\n]+\n)*)\n```(\w+)\n(.*?)```\n", text, re.S):
    name = re.search(r"Save this\s+as\s+`(.*?)`:\s*$", before)
    if name:
        with open(os.path.join(folder, name.group(1)), "w", encoding="utf-8") as file:
            file.write(block)
    elif language == "sh":
        print(block)
