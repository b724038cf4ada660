"""Checks the colors of classes of enhope plot and of the page.

usage: palette.py REPOSITORY
       palette.py --self-test REPOSITORY

The tables of cli/plot/palette.c, viewer/src/palette.js and python/enhope/_plot.py must agree. Every
color must have a contrast of at least 3:1 with white paper, or with the backgrounds of the page in
its theme. Any two of the first ten must be distinguishable, also as seen by people who lack one
kind of cone; and any two of all must differ visibly. --self-test plants one violation of each kind
and exits 1 unless each of them is found.
"""

import itertools
import math
import os
import re
import sys

MIN_CONTRAST = 3  # WCAG 2, graphical objects
FIRST = 10
MIN_FIRST, MIN_SIMULATED, MIN_ANY = 20, 14, 7  # CIEDE2000
WHITE = "#ffffff"

# Machado, Oliveira and Fernandes (2009), full strength, for linear RGB.
SIMULATED = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
D65 = (0.95047, 1, 1.08883)


def linear(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def apply(matrix, vector):
    return [sum(a * x for a, x in zip(row, vector)) for row in matrix]


def contrast(a, b):
    light, dark = sorted((sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear(c))) for c in (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(color, matrix=None):
    rgb = linear(color)
    if matrix:
        rgb = [min(max(x, 0), 1) for x in apply(matrix, rgb)]
    x, y, z = (v / w for v, w in zip(apply(XYZ, rgb), D65))
    f = lambda t: t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29
    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


def difference(one, two):
    """CIEDE2000 (Sharma, Wu and Dalal 2005)."""
    mean_c = (math.hypot(*one[1:]) + math.hypot(*two[1:])) / 2
    g = (1 - math.sqrt(mean_c**7 / (mean_c**7 + 25**7))) / 2
    (l1, a1, b1), (l2, a2, b2) = ((l, a * (1 + g), b) for l, a, b in (one, two))
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    cosine = lambda degrees: math.cos(math.radians(degrees))
    t = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) - 0.2 * cosine(4 * h - 63)
    dl = (l2 - l1) / (1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * c)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2) / (1 + 0.015 * c * t)
    rotation = 2 * math.sqrt(c**7 / (c**7 + 25**7)) * math.sin(math.radians(60 * math.exp(-(((h - 275) / 25) ** 2))))
    return math.sqrt(dl**2 + dc**2 + dh**2 - rotation * dc * dh)


def closest(colors, matrix=None):
    seen = [lab(color, matrix) for color in colors]
    pairs = itertools.combinations(range(len(colors)), 2)
    return min((difference(seen[i], seen[j]), f"{colors[i]} and {colors[j]}") for i, j in pairs)


def read(root, *path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def tables(root):
    """The colors of the figure, of the page in each theme, of no class, and the backgrounds."""
    figure = read(root, "cli", "plot", "palette.c")
    page = read(root, "viewer", "src", "palette.js")
    css = read(root, "viewer", "src", "page.css")
    colors = {"figure": re.findall(r"0x([0-9a-f]{6}),", re.search(r"palette\[\] = \{(.*?)\}", figure, re.S)[1])}
    colors["figure"] = ["#" + color for color in colors["figure"]]
    python = re.search(r'_COLORS = .*?"""(.*?)"""', read(root, "python", "enhope", "_plot.py"), re.S)[1]
    colors["Python"] = ["#" + color for color in python.split()]
    rules = {"light": re.search(r":root \{(.*?)\}", css, re.S)[1]}
    rules["dark"] = re.search(r"\[data-theme='dark'\] \{(.*?)\}", css, re.S)[1]
    behind = {"figure": [WHITE], "Python": [WHITE]}
    for theme, rule in rules.items():
        colors[theme] = re.findall("#[0-9a-f]{6}", re.search(theme + r": \[(.*?)\]", page, re.S)[1])
        behind[theme] = [re.search(rf"--{name}: (#[0-9a-f]{{6}})", rule)[1] for name in ("paper", "panel")]
    gray = {re.search("no_class = 0x([0-9a-f]{6})", figure)[1], re.search("GRAY = '#([0-9a-f]{6})'", page)[1]}
    return colors, behind, ["#" + color for color in sorted(gray)]


def faults(colors, behind, gray, say=lambda text: None):
    for theme, path in (("light", "viewer/src/palette.js"), ("Python", "python/enhope/_plot.py")):
        if colors["figure"] != colors[theme]:
            yield f"the colors of cli/plot/palette.c and the {theme} ones of {path} differ"
    if len(gray) > 1:
        yield "the colors of no class in cli/plot/palette.c and viewer/src/palette.js differ"
    for theme, table in colors.items():
        if len(table) < 100 or len(table) != len(colors["figure"]):
            yield f"{theme}: {len(table)} colors: expected at least 100, and the same number in all tables"
        low, color = min((contrast(color, other), color) for color in table + gray for other in behind[theme])
        say(f"{theme}: smallest contrast {low:.2f} ({color})")
        if low < MIN_CONTRAST:
            yield f"{theme}: {color} has a contrast of {low:.2f}: expected at least {MIN_CONTRAST}"
        checks = [("first ten", MIN_FIRST, closest(table[:FIRST])), ("all", MIN_ANY, closest(table + gray[:1]))]
        checks += [(f"first ten, {kind}", MIN_SIMULATED, closest(table[:FIRST], m)) for kind, m in SIMULATED.items()]
        for what, threshold, (found, pair) in checks:
            say(f"{theme}: smallest difference, {what}: {found:.2f} ({pair})")
            if found < threshold:
                yield f"{theme}, {what}: {pair} differ by {found:.2f}: expected at least {threshold}"


def self_test(root):
    # The formulas: two pairs of the test data of CIEDE2000, and the contrast of black on white.
    assert abs(difference((50, 2.6772, -79.7751), (50, 0, -82.7485)) - 2.0425) < 1e-4
    assert abs(difference((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514)) - 0.9082) < 1e-4
    assert abs(contrast("#000000", WHITE) - 21) < 1e-9
    plants = [
        ("figure", 99, "#123456", "differ"),  # the two tables
        ("Python", 8, "#123456", "the Python ones"),
        ("light", 4, "#bbbb00", "contrast"),
        ("dark", 3, "#005544", "contrast"),
        ("dark", 57, None, "differ by 0.00"),  # a repeated color
        ("light", 5, "#667755", "protan: "),  # a color that one of the first ten resembles
    ]
    for theme, at, color, expected in plants:
        colors, behind, gray = tables(root)
        colors[theme][at] = color or colors[theme][at - 1]
        if not any(expected in fault for fault in faults(colors, behind, gray)):
            sys.exit(f"{theme} color {at} = {color} was not found: expected a message with '{expected}'")
    print(f"found {len(plants)} of {len(plants)} planted violations")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--self-test":
        return self_test(sys.argv[2])
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(faults(*tables(sys.argv[1]), print))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
