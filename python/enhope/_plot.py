"""Plots of an embedding: with matplotlib, or as an interactive page in a notebook."""

import html
import json

import numpy as np

from ._arrays import is_missing

# Colors and markers of ``enhope plot``, and the dark theme of ``enhope view``. The colors are
# distinguishable with any color vision.
_COLORS = ["#662266", "#bbbb00", "#2299aa", "#880000", "#ff9999", "#4455ff", "#997744", "#aaaaff", "#dd3388", "#005544"]
_DARK = ["#92209f", "#b9d221", "#0eb8d0", "#b30c05", "#ffbdb7", "#4754ff", "#9a8459", "#a890ff", "#fa2c9c", "#0b6355"]
_GRAY = "#8a8f98"  # samples without a label
_MARKERS = ["o", "^", "s", "v", "D"]
_MAX_POINTS = 20000  # of a page


def _color(classes, i, palette=_COLORS):
    return _GRAY if classes[i] is None and len(classes) > 1 else palette[i % len(palette)]


def _encode(labels):
    """The classes, and the index of each label. Missing labels (None, NaN) form a class None."""
    values = labels.tolist() if labels.dtype.kind == "O" else list(labels)
    present = [not is_missing(value) for value in values]
    distinct = {value for value, ok in zip(values, present) if ok}
    try:
        classes = sorted(distinct)
    except TypeError:
        classes = sorted(distinct, key=lambda value: (type(value).__name__, str(value)))
    if not all(present):
        classes.append(None)
    index = {value: i for i, value in enumerate(classes)}
    return classes, np.array([index[value if ok else None] for value, ok in zip(values, present)], dtype=int)


class Map:
    """An embedding with labels, as returned by ``plot``. Notebooks display it as an interactive
    page.

    Parameters
    ----------
    Y : array-like of shape (n_samples, 2)
        Coordinates.
    labels : array-like of shape (n_samples,) or None
        Labels, which determine the colors.
    exemplars : ndarray of shape (n_exemplars, 2) or None, default=None
        Coordinates of exemplars.
    exemplar_labels : ndarray of shape (n_exemplars,) or None, default=None
        Labels of the exemplars.
    title : str, default=""
        Title of the plot.
    wrong : array-like of bool of shape (n_samples,) or None, default=None
        Samples to mark as misclassified.
    """

    def __init__(self, Y, labels, exemplars=None, exemplar_labels=None, title="", wrong=None):
        self.Y = np.asarray(Y, dtype=np.float64)
        self.labels = labels
        self.exemplars = exemplars
        self.exemplar_labels = exemplar_labels
        self.title = title
        self.wrong = None if wrong is None else np.asarray(wrong, dtype=bool)
        self._ax = None
        self._classes, self._code = ([None], np.zeros(len(self.Y), int)) if labels is None else _encode(np.asarray(labels))

    def __repr__(self):
        classes = "" if self.labels is None else f" of {sum(label is not None for label in self._classes)} classes"
        return f"<enhope map: {len(self.Y)} samples{classes}; .show() opens a window, .ax draws, .save(path) writes a page>"

    def draw(self, ax=None):
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(7, 6))[1]
        size = float(np.clip(20000 / max(len(self.Y), 1), 1, 18))
        for i, label in enumerate(self._classes):
            self._scatter(ax, i, self._code == i, s=size, alpha=0.7, linewidths=0, label=None if label is None else str(label))
        if self.wrong is not None:
            for i in np.unique(self._code[self.wrong]):
                self._scatter(ax, i, self.wrong & (self._code == i), s=max(size, 8), linewidths=0.7, edgecolors="#111")
        if self.exemplars is not None:
            for width, color, label in ((3.6, "#fff", None), (1.6, "#111", "exemplar")):
                ax.scatter(self.exemplars[:, 0], self.exemplars[:, 1], s=90, facecolors="none", edgecolors=color,
                           linewidths=width, label=label)
        ax.set_aspect("equal", adjustable="datalim")  # distances are meaningful
        ax.set_title(self.title)
        ax.set_xticks([])
        ax.set_yticks([])
        if self.labels is not None and len(self._classes) <= 24:
            ax.legend(handles=self._legend(), loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        self._ax = ax
        return ax

    def _marker(self, i):
        return _MARKERS[i // len(_COLORS) % len(_MARKERS)]

    def _scatter(self, ax, i, own, **look):
        """Draw the samples `own` in the color and marker of class i."""
        ax.scatter(self.Y[own, 0], self.Y[own, 1], c=_color(self._classes, i), marker=self._marker(i), **look)

    def _legend(self):
        """Legend entries, whose size does not depend on the number of samples."""
        from matplotlib.lines import Line2D

        keys = [Line2D([], [], ls="", marker=self._marker(i), ms=6, mew=0, c=_color(self._classes, i),
                       label="no label" if label is None else str(label)) for i, label in enumerate(self._classes)]
        if self.exemplars is not None:
            keys.append(Line2D([], [], ls="", marker="o", ms=9, mew=1.6, mfc="none", mec="#111", label="exemplar"))
        if self.wrong is not None:
            keys.append(Line2D([], [], ls="", marker="o", ms=5, mew=0.7, mfc="#ccc", mec="#111", label="misclassified"))
        return keys

    @property
    def ax(self):
        """The matplotlib axes. The first access draws the map."""
        return self._ax if self._ax is not None else self.draw()

    def show(self):
        """Open the map in a matplotlib window."""
        import matplotlib.pyplot as plt

        self.ax
        plt.show()

    def _content(self):
        """The data of the page, as JSON that is safe inside a script element."""
        Y, code, classes = self.Y, self._code, self._classes
        wrong = np.zeros(len(Y), bool) if self.wrong is None else self.wrong
        if len(Y) > _MAX_POINTS:  # evenly spaced samples
            chosen = np.linspace(0, len(Y) - 1, _MAX_POINTS).astype(int)
            Y, code, wrong = Y[chosen], code[chosen], wrong[chosen]
        scale = float(np.abs(Y).max(initial=1e-12))
        content = {
            "title": self.title,
            "all": len(self.Y),
            "names": ["" if label is None else str(label) for label in classes],
            "colors": [_color(classes, i) for i in range(len(classes))],
            "dark": [_color(classes, i, _DARK) for i in range(len(classes))],
            "x": np.round(Y[:, 0] / scale, 4).tolist(),
            "y": np.round(Y[:, 1] / scale, 4).tolist(),
            "of": code.tolist(),
            "wrong": np.flatnonzero(wrong).tolist(),
            "exemplars": [] if self.exemplars is None else np.round(self.exemplars[:, :2] / scale, 4).tolist(),
        }
        text = json.dumps(content, ensure_ascii=True)
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

    def html(self):
        """Return a self-contained HTML page.

        Drag to pan, use the wheel to zoom, hover over a point to read its label, click a class to
        hide it.

        Returns
        -------
        html : str
        """
        head, _, tail = _PAGE.partition("CONTENT")
        return head.replace("TITLE", html.escape(self.title)) + self._content() + tail

    def save(self, path):
        """Write the page to a file.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def _repr_html_(self):
        page = html.escape(self.html(), quote=True)
        return f'<iframe sandbox="allow-scripts" srcdoc="{page}" style="width:100%;height:480px;border:0"></iframe>'


def _misclassified(estimator, X, labels):
    """Whether each label is present and differs from the prediction."""
    if labels is None:
        raise ValueError("errors=True needs labels, but y is None: expected labels; pass y")
    pairs = zip(labels.tolist(), np.asarray(estimator.predict(X)).tolist())
    return np.array([not is_missing(label) and label != predicted for label, predicted in pairs], dtype=bool)


def plot(estimator, X, y=None, ax=None, title=None, errors=False):
    """Plot the embedding of X.

    Parameters
    ----------
    estimator : Estimator or sklearn.pipeline.Pipeline
        A fitted estimator with at least two components, of which the first two are plotted, or
        a pipeline that ends with one.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,) or None, default=None
        Labels, which determine the colors. None and NaN mark samples without a label.
    ax : matplotlib.axes.Axes or None, default=None
        Axes to draw on immediately. If None, ``Map.show`` or ``Map.ax`` draws.
    title : str or None, default=None
        Title; None uses the class name and the number of samples.
    errors : bool, default=False
        Draw a dark edge around misclassified samples. Their fill color is that of the label in y.

    Returns
    -------
    map : Map

    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> model = enhope.EnHOPE(n_factors=20, n_hidden=10, n_epochs=20).fit(X, y)
    >>> enhope.plot(model, X, y).html().startswith("<!doctype html>")
    True
    """
    Y = np.asarray(estimator.transform(X))
    if Y.ndim != 2 or Y.shape[1] < 2:
        raise ValueError(f"the embedding has {Y.shape[1]} component: expected at least 2; fit with n_components=2")
    labels = None if y is None else np.asarray(y).ravel()
    if labels is not None and len(labels) != len(Y):
        raise ValueError(f"y has {len(labels)} labels, but X has {len(Y)} samples: expected one label for each sample")
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    G = own = None
    if hasattr(last, "exemplars_"):
        G, number = last._references()
        own = last._labels[number]
    if title is None:
        title = f"{type(last).__name__}, {len(Y)} samples"
    result = Map(Y, labels, G, own, title, _misclassified(estimator, X, labels) if errors else None)
    if ax is not None:
        result.draw(ax)
    return result


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>TITLE</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{margin:0;font:13px sans-serif;color:#222;background:#fff}
main{display:flex;height:100vh}canvas{flex:1;min-width:0;cursor:grab;touch-action:none}
aside{width:11em;padding:8px;overflow:auto}h1{font-size:15px;margin:0 0 8px}
button{display:block;border:0;background:none;font:inherit;color:inherit;padding:2px;text-align:left;cursor:pointer}
button[aria-pressed=false]{opacity:.35}i{display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:6px}
#tip{position:fixed;pointer-events:none;background:#fffd;border:1px solid #aaa;padding:1px 5px;display:none}
@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}#tip{background:#16181cdd}}
</style></head><body><main><canvas aria-label="map"></canvas><aside><h1></h1><div></div><p></p></aside></main>
<div id="tip"></div>
<script>
const d=CONTENT,c=document.querySelector("canvas"),g=c.getContext("2d"),tip=document.getElementById("tip");
const night=matchMedia("(prefers-color-scheme:dark)").matches,colors=night?d.dark:d.colors,edge=night?"#fff":"#111";
const visible=d.names.map(()=>true);let s=1,ox=0,oy=0,from=null;
document.querySelector("h1").textContent=d.title;
document.querySelector("p").innerText=[d.exemplars.length?"Circles: exemplars":"",d.wrong.length?"Edged: misclassified":"",
d.x.length<d.all?d.x.length+" of "+d.all+" samples shown":""].filter(s=>s).join("\\n");
d.names.forEach((name,k)=>{if(!name)return;const b=document.createElement("button"),i=document.createElement("i");
i.style.background=colors[k];b.setAttribute("aria-pressed","true");b.append(i,name);
b.onclick=()=>{visible[k]=!visible[k];b.setAttribute("aria-pressed",visible[k]);draw()};
document.querySelector("aside div").append(b)});
const unit=()=>Math.min(c.width,c.height)*.47*s,at=(x,y)=>[c.width/2+ox+x*unit(),c.height/2+oy-y*unit()];
function draw(){const r=devicePixelRatio||1;c.width=c.clientWidth*r;c.height=c.clientHeight*r;
const p=Math.max(1.5,Math.min(4,300/Math.sqrt(d.x.length)))*r;g.globalAlpha=.75;
const dot=(i,q,color)=>{if(!visible[d.of[i]])return;const[x,y]=at(d.x[i],d.y[i]);
g.fillStyle=color;g.fillRect(x-q/2,y-q/2,q,q)};
for(let i=0;i<d.x.length;i++)dot(i,p,colors[d.of[i]]);
g.globalAlpha=1;for(const i of d.wrong){dot(i,p+2*r,edge);dot(i,p,colors[d.of[i]])}
for(const e of d.exemplars){const[x,y]=at(e[0],e[1]);
for(const[w,k]of[[4,"#fff"],[2,"#111"]]){g.beginPath();g.arc(x,y,7*r,0,7);g.lineWidth=w*r;g.strokeStyle=k;g.stroke()}}}
function near(e){const r=devicePixelRatio||1;let best=100*r*r,found=-1;
for(let i=0;i<d.x.length;i++){if(!visible[d.of[i]])continue;const[x,y]=at(d.x[i],d.y[i]);
const q=(x-e.offsetX*r)**2+(y-e.offsetY*r)**2;if(q<best){best=q;found=i}}return found}
c.onpointerdown=e=>{from=[e.offsetX,e.offsetY];c.setPointerCapture(e.pointerId)};c.onpointerup=()=>{from=null};
c.onpointermove=e=>{const r=devicePixelRatio||1;if(from){ox+=(e.offsetX-from[0])*r;oy+=(e.offsetY-from[1])*r;
from=[e.offsetX,e.offsetY];draw();return}const i=near(e);tip.style.display=i<0?"none":"block";
if(i>=0){tip.textContent=d.names[d.of[i]]||"sample "+i;tip.style.left=e.clientX+12+"px";tip.style.top=e.clientY+8+"px"}};
c.onwheel=e=>{e.preventDefault();const r=devicePixelRatio||1,f=Math.exp(-e.deltaY/400);
const x=e.offsetX*r-c.width/2,y=e.offsetY*r-c.height/2;ox=x-(x-ox)*f;oy=y-(y-oy)*f;s*=f;draw()};
onresize=draw;draw();
</script></body></html>
"""
