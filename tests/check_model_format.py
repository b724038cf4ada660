"""Runs the first Python block of docs/reference/model-format.md on a model file and prints its tensors.

usage: check_model_format.py MODEL [DOCUMENT]

Prints a line "NAME DTYPE SHAPE" for each tensor, in the order of the file. Exits 1 if the values do
not match the shape, or if metadata is missing.
"""

import json
import math
import os
import re
import sys

KEYS = ["format", "format_version", "enhope_version", "method", "map", "inputs", "outputs", "factors", "hidden", "order",
        "similarity", "neighbours", "temperature", "classes", "settings", "history"]


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "reference", "model-format.md")
    with open(sys.argv[2] if len(sys.argv) == 3 else beside, encoding="utf-8") as file:
        snippet = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL).group(1)
    found = {}
    exec(compile(snippet, "model-format.md", "exec"), found)  # reads sys.argv[1]
    for name, (dtype, shape, numbers) in found["tensors"].items():
        print(name, dtype, shape)
        if len(numbers) != math.prod(shape):
            print(f"{name}: {len(numbers)} values do not match the shape {shape}", file=sys.stderr)
            return 1
    metadata = found["metadata"]
    missing = [key for key in KEYS if key not in metadata]
    if missing or metadata["format"] != "enhope":
        print(f"metadata lacks {', '.join(missing) or 'the right format'}", file=sys.stderr)
        return 1
    classes, labels = json.loads(metadata["classes"]), found["tensors"].get("exemplar_labels", (0, 0, []))[2]
    json.loads(metadata["settings"]), json.loads(metadata["history"])
    if any(label not in range(len(classes)) for label in labels):
        print("an exemplar has a label outside the list of classes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
