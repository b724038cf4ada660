"""How far training is: a bar in a terminal and in a notebook, lines elsewhere."""

import collections
import html
import shutil
import sys
import time

Progress = collections.namedtuple(
    "Progress", "epoch epochs batch batches loss valid_error best_error seconds seconds_left epoch_done"
)
Progress.__doc__ = """Where training is, as a callback gets it after each epoch.

``valid_error`` and ``best_error`` are shares of the validation part, NaN before or without one; ``seconds_left`` is an
estimate."""


def _words(p):
    text = f"epoch {p.epoch}/{p.epochs}  loss {p.loss:.4f}"
    if p.valid_error == p.valid_error:
        text += f"  validation error {100 * p.valid_error:.2f} %"
    return text + f"  {p.seconds:.0f} s, {p.seconds_left:.0f} s left"


def _share(p):
    done = p.epoch + (0 if p.epoch_done else p.batch / max(p.batches, 1))
    return min(done / max(p.epochs, 1), 1.0)


def in_notebook():
    """Whether a notebook shows what is displayed."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Notebook:
    def __init__(self):
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(""), display_id=True)

    def show(self, p):
        text = html.escape(_words(p))
        self._handle.update(self._html(f'<progress max="1" value="{_share(p):.4f}"></progress> {text}'))

    def close(self):
        pass


class _Terminal:
    def __init__(self, out):
        self._out = out
        self._width = 0

    def show(self, p):
        most = max(shutil.get_terminal_size().columns - 1, 1)  # a line that wraps could not be written over
        words = _words(p)
        wide = max(min(24, most - len(words) - 3), 0)
        full = round(wide * _share(p))
        text = (f"[{'=' * full}{' ' * (wide - full)}] {words}" if wide > 3 else words)[:most]
        self._out.write("\r" + text.ljust(min(self._width, most)))
        self._out.flush()
        self._width = len(text)

    def close(self):
        if self._width:
            self._out.write("\n")


class _Lines:
    """A line for each tenth of the way."""

    def __init__(self, out):
        self._out = out
        self._tenth = -1

    def show(self, p):
        if p.epoch_done and int(10 * _share(p)) > self._tenth:
            self._tenth = int(10 * _share(p))
            self._out.write(_words(p) + "\n")

    def close(self):
        self._out.flush()


class Listener:
    """What the module calls while it trains. Says True where training is to stop."""

    def __init__(self, callback, verbose):
        self._callback = callback
        self._bar = None
        self._shown = 0.0
        if verbose:
            out = sys.stderr
            self._bar = _Notebook() if in_notebook() else _Terminal(out) if out.isatty() else _Lines(out)

    def __call__(self, *numbers):
        p = Progress(*numbers)
        now = time.monotonic()
        if self._bar and (now - self._shown > 0.1 or (p.epoch_done and p.epoch == p.epochs) or type(self._bar) is _Lines):
            self._shown = now
            self._bar.show(p)
        return bool(self._callback(p)) if self._callback and p.epoch_done else False

    def close(self):
        if self._bar:
            self._bar.close()
