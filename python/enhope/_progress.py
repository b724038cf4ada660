"""Progress of training: a bar in a terminal or notebook, lines elsewhere."""

import collections
import html
import shutil
import sys
import time

Progress = collections.namedtuple(
    "Progress", "epoch epochs batch batches loss valid_error best_error seconds seconds_left epoch_done"
)
Progress.__doc__ = """Progress of training, passed to the parameter ``callback`` after each epoch.

Attributes
----------
epoch, epochs : int
    Epochs done, and their planned number.
batch, batches : int
    Batches done in the current epoch, and their number.
loss : float
    Loss of the last epoch.
valid_error, best_error : float
    Last and lowest error on the validation part, from 0 to 1; NaN if there is none yet.
seconds, seconds_left : float
    Time since the start, and the estimated time to the end.
epoch_done : bool
    Whether an epoch has just ended.
"""


def _line(p):
    text = f"epoch {p.epoch}/{p.epochs}  loss {p.loss:.4f}"
    if p.valid_error == p.valid_error:
        text += f"  validation error {100 * p.valid_error:.2f} %"
    return text + f"  {p.seconds:.0f} s, {p.seconds_left:.0f} s left"


def _share(p):
    done = p.epoch + (0 if p.epoch_done else p.batch / max(p.batches, 1))
    return min(done / max(p.epochs, 1), 1.0)


def in_notebook():
    """Whether the code runs in a Jupyter notebook."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Notebook:
    def __init__(self):
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(""), display_id=True)

    def show(self, p):
        text = html.escape(_line(p))
        self._handle.update(self._html(f'<progress max="1" value="{_share(p):.4f}"></progress> {text}'))

    def close(self):
        pass


class _Terminal:
    def __init__(self, out):
        self._out = out
        self._width = 0

    def show(self, p):
        # A line that wraps could not be overwritten.
        columns = max(shutil.get_terminal_size().columns - 1, 1)
        line = _line(p)
        width = max(min(24, columns - len(line) - 3), 0)
        full = round(width * _share(p))
        text = (f"[{'=' * full}{' ' * (width - full)}] {line}" if width > 3 else line)[:columns]
        self._out.write("\r" + text.ljust(min(self._width, columns)))
        self._out.flush()
        self._width = len(text)

    def close(self):
        if self._width:
            self._out.write("\n")


class _Lines:
    """Prints a line for each 10 % of the epochs."""

    def __init__(self, out):
        self._out = out
        self._printed = -1

    def show(self, p):
        if p.epoch_done and int(10 * _share(p)) > self._printed:
            self._printed = int(10 * _share(p))
            self._out.write(_line(p) + "\n")

    def close(self):
        self._out.flush()


class Listener:
    """Called by the extension module during training. Returns True to stop it."""

    def __init__(self, callback, verbose):
        self._callback = callback
        self._bar = None
        self._last_update = 0.0
        if verbose:
            out = sys.stderr
            self._bar = _Notebook() if in_notebook() else _Terminal(out) if out.isatty() else _Lines(out)

    def __call__(self, *numbers):
        p = Progress(*numbers)
        now = time.monotonic()
        if self._bar and (now - self._last_update > 0.1 or (p.epoch_done and p.epoch == p.epochs) or type(self._bar) is _Lines):
            self._last_update = now
            self._bar.show(p)
        return bool(self._callback(p)) if self._callback and p.epoch_done else False

    def close(self):
        if self._bar:
            self._bar.close()
