"""A map as a picture: an axis of matplotlib's, and a page that explores it in a notebook."""

import html
import json

import numpy as np

from ._arrays import is_missing

# Okabe and Ito's colours, told apart by nearly all eyes, then tints of them.
_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#b8a800", "#444444", "#8c6bb1", "#a6761d",
            "#1b7837", "#d6604d"]
_MARKS = ["o", "s", "^", "D", "v", "P"]
_MOST = 20000  # points that a page shows


def _number(labels):
    """The classes, and the number of each label's; those that are missing (None, NaN) are a class None of their own."""
    values = labels.tolist() if labels.dtype.kind == "O" else list(labels)
    known = [not is_missing(value) for value in values]
    some = {value for value, there in zip(values, known) if there}
    try:
        classes = sorted(some)
    except TypeError:
        classes = sorted(some, key=lambda value: (type(value).__name__, str(value)))
    if not all(known):
        classes.append(None)
    number = {value: i for i, value in enumerate(classes)}
    return classes, np.array([number[value if there else None] for value, there in zip(values, known)], dtype=int)


class Map:
    """Points of an embedding with their labels. In a notebook it shows itself as a page to explore; ``ax`` is its picture by
    matplotlib, ``show()`` opens that in a window, ``html()`` is the page, ``save(path)`` writes it."""

    def __init__(self, Y, labels, exemplars=None, exemplar_labels=None, title=""):
        self.Y = np.asarray(Y, dtype=np.float64)
        self.labels = labels
        self.exemplars = exemplars
        self.exemplar_labels = exemplar_labels
        self.title = title
        self._ax = None
        self._classes, self._code = ([None], np.zeros(len(self.Y), int)) if labels is None else _number(np.asarray(labels))

    def __repr__(self):
        classes = "" if self.labels is None else f" of {sum(label is not None for label in self._classes)} classes"
        return f"<enhope map: {len(self.Y)} samples{classes}; .show() opens it, .ax draws it, .save(path) writes a page>"

    def draw(self, ax=None):
        """Draws on an axis of matplotlib's, a new one where none is given, and returns it."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(7, 6))[1]
        many = max(len(self.Y), 1)
        for i, label in enumerate(self._classes):
            own = self._code == i
            ax.scatter(self.Y[own, 0], self.Y[own, 1], s=float(np.clip(20000 / many, 1, 18)), c=_COLOURS[i % len(_COLOURS)],
                       marker=_MARKS[i // len(_COLOURS) % len(_MARKS)], alpha=0.7, linewidths=0,
                       label=None if label is None else str(label))
        if self.exemplars is not None:
            ax.scatter(self.exemplars[:, 0], self.exemplars[:, 1], s=90, facecolors="none", edgecolors="#111",
                       linewidths=1.6, label="exemplar")
        ax.set_title(self.title)
        ax.set_xticks([])
        ax.set_yticks([])
        if self.labels is not None and len(self._classes) <= 24:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        self._ax = ax
        return ax

    @property
    def ax(self):
        """The axis that the map is drawn on; it is drawn where it was not yet."""
        return self._ax if self._ax is not None else self.draw()

    def show(self):
        """Draws it where it was not yet, and opens matplotlib's windows."""
        import matplotlib.pyplot as plt

        self.ax
        plt.show()

    def _content(self):
        """What the page shows, as JSON that is safe inside a script."""
        Y, code, classes = self.Y, self._code, self._classes
        if len(Y) > _MOST:  # every so many-th, in the order that is there
            kept = np.linspace(0, len(Y) - 1, _MOST).astype(int)
            Y, code = Y[kept], code[kept]
        scale = float(np.abs(Y).max(initial=1e-12))
        content = {
            "title": self.title,
            "all": len(self.Y),
            "names": ["" if label is None else str(label) for label in classes],
            "colours": [_COLOURS[i % len(_COLOURS)] for i in range(len(classes))],
            "x": np.round(Y[:, 0] / scale, 4).tolist(),
            "y": np.round(Y[:, 1] / scale, 4).tolist(),
            "of": code.tolist(),
            "exemplars": [] if self.exemplars is None else np.round(self.exemplars[:, :2] / scale, 4).tolist(),
        }
        text = json.dumps(content, ensure_ascii=True)
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

    def html(self):
        """One page that needs no network: drag to move, the wheel to zoom, point to read a label, click a class to hide it."""
        head, _, tail = _PAGE.partition("CONTENT")
        return head.replace("TITLE", html.escape(self.title)) + self._content() + tail

    def save(self, path):
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def _repr_html_(self):
        page = html.escape(self.html(), quote=True)
        return f'<iframe sandbox="allow-scripts" srcdoc="{page}" style="width:100%;height:480px;border:0"></iframe>'


def plot(estimator, X, y=None, ax=None, title=None):
    """The map of X by a fitted estimator.

    Parameters
    ----------
    estimator
        Fitted, with at least two coordinates; the first two are shown. A pipeline whose last step is an estimator of ours
        serves as well.
    X : as for ``transform``
    y : array of shape (n_samples,), optional
        Labels, for colours; None and NaN are samples without one.
    ax : axis of matplotlib's, optional
        Where to draw at once. Without it nothing is drawn until ``.show()`` or ``.ax`` asks for it.

    Returns
    -------
    Map

    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> model = enhope.EnHOPE(factors=20, hidden=10, epochs=20).fit(X, y)
    >>> enhope.plot(model, X, y).html().startswith("<!doctype html>")
    True
    """
    Y = np.asarray(estimator.transform(X))
    if Y.ndim != 2 or Y.shape[1] < 2:
        raise ValueError(f"the embedding has {Y.shape[1]} coordinate: expected at least 2 to draw a map")
    labels = None if y is None else np.asarray(y).ravel()
    if labels is not None and len(labels) != len(Y):
        raise ValueError(f"y has {len(labels)} labels and X {len(Y)} samples: expected as many")
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    G = own = None
    if hasattr(last, "exemplars_"):
        G, number = last._references()
        own = last._labels[number]
    said = title if title is not None else f"{type(last).__name__}, {len(Y)} samples"
    made = Map(Y, labels, G, own, said)
    if ax is not None:
        made.draw(ax)
    return made


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
const shown=d.names.map(()=>true);let s=1,ox=0,oy=0,from=null;
document.querySelector("h1").textContent=d.title;
document.querySelector("p").textContent=d.x.length<d.all?d.x.length+" of "+d.all+" samples are shown":"";
d.names.forEach((name,k)=>{if(!name)return;const b=document.createElement("button"),i=document.createElement("i");
i.style.background=d.colours[k];b.setAttribute("aria-pressed","true");b.append(i,name);
b.onclick=()=>{shown[k]=!shown[k];b.setAttribute("aria-pressed",shown[k]);draw()};
document.querySelector("aside div").append(b)});
const unit=()=>Math.min(c.width,c.height)*.47*s,at=(x,y)=>[c.width/2+ox+x*unit(),c.height/2+oy-y*unit()];
function draw(){const r=devicePixelRatio||1;c.width=c.clientWidth*r;c.height=c.clientHeight*r;
const p=Math.max(1.5,Math.min(4,300/Math.sqrt(d.x.length)))*r;g.globalAlpha=.75;
for(let i=0;i<d.x.length;i++){if(!shown[d.of[i]])continue;const[x,y]=at(d.x[i],d.y[i]);
g.fillStyle=d.colours[d.of[i]];g.fillRect(x-p/2,y-p/2,p,p)}
g.globalAlpha=1;for(const e of d.exemplars){const[x,y]=at(e[0],e[1]);
for(const[w,k]of[[4,"#fff"],[2,"#111"]]){g.beginPath();g.arc(x,y,7*r,0,7);g.lineWidth=w*r;g.strokeStyle=k;g.stroke()}}}
function near(e){const r=devicePixelRatio||1;let best=100*r*r,found=-1;
for(let i=0;i<d.x.length;i++){if(!shown[d.of[i]])continue;const[x,y]=at(d.x[i],d.y[i]);
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
