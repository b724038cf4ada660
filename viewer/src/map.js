// The map: points drawn by WebGL, and a canvas above them for exemplars, errors and the sample of
// the tab "Try it".
import createScatterplot from 'regl-scatterplot';

const THEMES = {
  light: { background: '#fbfbf9', ink: '#1d2126', halo: '#ffffff' },
  dark: { background: '#14171c', ink: '#eceff3', halo: '#14171c' },
};

const MAX_RINGS = 4000; // with more errors, none is ringed

export function createMap({ canvas, overlay, box, points, names, group, isError, exemplars, covered, onHover, onPick, onSelect, onExemplar }) {
  const n = points.x.length;
  const [x0, y0, x1, y1] = box;
  const size = Math.max(x1 - x0, y1 - y0) || 1;
  const scale = 1.72 / size;
  // From the outputs of the model to the square of the map, -1 to 1.
  const placeX = (x) => (x - (x0 + x1) / 2) * scale;
  const placeY = (y) => (y - (y0 + y1) / 2) * scale;

  const px = new Float32Array(n);
  const py = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    px[i] = placeX(x0 + ((x1 - x0) * points.x[i]) / 65535);
    py[i] = placeY(y0 + ((y1 - y0) * points.y[i]) / 65535);
  }

  let theme = THEMES.light;
  let colors = [];
  let visible = null; // indices, or null: all
  let tried = null; // {x, y, label}
  let pinned = -1;
  let highlighted = -1; // exemplar
  let errors = [];
  let frame = null; // of the animation: [x, y, class] for each point; null: the animation is not shown
  let lassoing = false;
  let traced = null; // path of a finger that draws the lasso

  // The diameter of a dot for a number of points; smaller on a small map.
  const side = () => Math.min(overlay.clientWidth, overlay.clientHeight);
  const diameter = (count) => (count > 300000 ? 2 : Math.max(3, Math.min(7, 420 / Math.sqrt(count + 1)) * Math.min(1, side() / 500)));
  let dotSize = diameter(n);
  const bothParts = points.part.some((part) => part !== points.part[0]); // training points are then smaller
  const sizes = () => (bothParts ? [0.65 * dotSize, dotSize] : dotSize);
  const plot = createScatterplot({
    canvas,
    width: 'auto',
    height: 'auto',
    pointSize: sizes(),
    sizeBy: bothParts ? 'valueB' : null,
    pointSizeSelected: 2,
    pointOutlineWidth: 2,
    colorBy: 'valueA',
    opacityBy: n > 20000 ? 'density' : null,
    opacity: n > 20000 ? undefined : 0.82,
    opacityInactiveScale: 0.35,
    lassoInitiator: false,
    lassoLineWidth: 2,
    deselectOnDblClick: true,
    spatialIndexUseWorker: false,
    actionKeyMap: { lasso: ['shift'] },
  });
  const valueA = Float32Array.from(group);
  const valueB = Float32Array.from(points.part, (part) => (part === 1 ? 0 : 1));

  // The projection of the current view: from the square to CSS pixels of the overlay.
  function projection() {
    const view = plot.get('camera').view;
    const [wide, high] = [overlay.clientWidth, overlay.clientHeight];
    return (x, y) => {
      const cx = ((view[0] * x + view[4] * y + view[12]) * high) / wide;
      const cy = view[1] * x + view[5] * y + view[13];
      return [((cx + 1) / 2) * wide, ((1 - cy) / 2) * high];
    };
  }
  const screen = (x, y) => projection()(x, y);
  const exemplarPlaces = () => {
    const at = projection();
    return exemplars.map(([x, y]) => at(placeX(x), placeY(y)));
  };

  function ring(g, [x, y], radius, color, width, fill) {
    g.beginPath();
    g.arc(x, y, radius, 0, 2 * Math.PI);
    if (fill) {
      g.fillStyle = fill;
      g.fill();
    }
    g.lineWidth = width;
    g.strokeStyle = color;
    g.stroke();
  }

  const isDense = () => exemplars.length > 40 || side() < 320; // exemplars and their names are then smaller

  // Writes the class beside its exemplars: once if several of a class are close together, on the
  // left near the right edge.
  function nameExemplars(g, places) {
    const named = [];
    const dense = isDense();
    const gap = dense ? 10 : 15;
    g.font = `600 ${dense ? 12 : 14}px system-ui, sans-serif`;
    g.textBaseline = 'middle';
    g.lineJoin = 'round';
    places.forEach(([x, y], j) => {
      const k = exemplars[j][2];
      if (x < 0 || y < 0 || x > overlay.clientWidth || y > overlay.clientHeight) return;
      if (named.some(([nx, ny, nk]) => Math.hypot(nx - x, ny - y) < (nk === k ? 60 : 16))) return;
      named.push([x, y, k]);
      const text = names[k].length > 18 ? names[k].slice(0, 17) + '…' : names[k];
      const wide = g.measureText(text).width;
      const left = x + gap + wide > overlay.clientWidth - 4 ? x - gap - wide : x + gap;
      g.lineWidth = 4;
      g.strokeStyle = theme.halo;
      g.strokeText(text, left, y);
      g.fillStyle = theme.ink;
      g.fillText(text, left, y);
    });
  }

  // Paints a frame of the animation. Coordinates are outputs of the model.
  function paintFrame(g) {
    const at = projection();
    for (const [x, y, k] of frame) {
      const [sx, sy] = at(placeX(x), placeY(y));
      g.fillStyle = colors[k] + 'd0';
      g.beginPath();
      g.arc(sx, sy, 3, 0, 2 * Math.PI);
      g.fill();
    }
  }

  function paint(g) {
    if (frame) {
      paintFrame(g);
      return;
    }
    const few = errors.length <= MAX_RINGS;
    const placed = projection();
    const [wider, line] = side() < 320 ? [1.2, 1] : [2.5, 1.5];
    if (few) for (const i of errors) ring(g, placed(px[i], py[i]), dotSize / 2 + wider, colors[points.label[i]], line);
    const places = exemplarPlaces();
    const dense = isDense();
    places.forEach((at, j) => {
      const radius = (dense ? 5 : 8) + (j === highlighted ? 4 : 0);
      ring(g, at, radius, theme.halo, dense ? 5 : 8);
      ring(g, at, radius, colors[exemplars[j][2]], dense ? 3 : 4);
      ring(g, at, radius + 2.5, theme.ink, j === highlighted ? 2 : 1);
    });
    if (pinned >= 0) {
      ring(g, screen(px[pinned], py[pinned]), 8, theme.halo, 5);
      ring(g, screen(px[pinned], py[pinned]), 8, theme.ink, 2);
    }
    if (tried) {
      const [x, y] = screen(placeX(tried.x), placeY(tried.y));
      ring(g, [x, y], 16, theme.halo, 7);
      ring(g, [x, y], 16, theme.ink, 2.5, colors[tried.label]);
      g.strokeStyle = theme.ink;
      g.lineWidth = 2.5;
      g.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        g.moveTo(x + 16 * dx, y + 16 * dy);
        g.lineTo(x + 26 * dx, y + 26 * dy);
      }
      g.stroke();
    }
    nameExemplars(g, places);
    if (traced) {
      g.strokeStyle = theme.ink;
      g.lineWidth = 2;
      g.beginPath();
      for (const at of traced) g.lineTo(...at);
      g.stroke();
    }
  }

  let request = 0;
  function paintSoon() {
    if (request) return;
    request = requestAnimationFrame(() => {
      request = 0;
      const ratio = window.devicePixelRatio || 1;
      const wide = Math.round(overlay.clientWidth * ratio);
      const high = Math.round(overlay.clientHeight * ratio);
      if (overlay.width !== wide || overlay.height !== high) [overlay.width, overlay.height] = [wide, high];
      const g = overlay.getContext('2d');
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, wide, high);
      paint(g);
    });
  }

  function findErrors() {
    const from = visible || { length: n };
    errors = [];
    for (let k = 0; k < from.length && errors.length <= MAX_RINGS; k++) {
      const i = visible ? visible[k] : k;
      if (isError(i)) errors.push(i);
    }
  }

  plot.subscribe('view', paintSoon);
  plot.subscribe('pointOver', (i) => frame || onHover(i, plot.getScreenPosition(i)));
  plot.subscribe('pointOut', () => onHover(-1));
  plot.subscribe('select', ({ points: chosen }) => frame || (chosen.length === 1 ? onPick(chosen[0]) : onSelect(chosen)));
  plot.subscribe('deselect', () => frame || onSelect([]));
  let fitted = ''; // the camera after the last fit; if the user has not moved it, a resize fits again
  const camera = () => plot.get('camera').view.join();
  function resize() {
    dotSize = diameter(visible ? visible.length : n);
    plot.set({ pointSize: sizes() });
    if (camera() === fitted) fit();
    else paintSoon();
  }
  new ResizeObserver(resize).observe(overlay);

  const exemplarAt = (x, y) => (frame ? -1 : exemplarPlaces().findIndex(([ex, ey]) => Math.hypot(ex - x, ey - y) <= (isDense() ? 8 : 12)));
  let down = null;
  canvas.addEventListener('pointerdown', (e) => (down = [e.offsetX, e.offsetY]));
  canvas.addEventListener('click', (e) => {
    if (!down || Math.hypot(e.offsetX - down[0], e.offsetY - down[1]) > 4) return;
    const j = exemplarAt(e.offsetX, e.offsetY);
    if (j >= 0) {
      e.stopImmediatePropagation();
      onExemplar(j);
    }
  }, true);
  canvas.addEventListener('pointermove', (e) => {
    canvas.style.cursor = exemplarAt(e.offsetX, e.offsetY) >= 0 ? 'pointer' : '';
  });

  const move = (dx, dy) => {
    plot.get('camera').pan([dx, dy]);
    plot.redraw();
    paintSoon();
  };
  const zoom = (factor, at = [0, 0]) => {
    plot.get('camera').scale(factor, at);
    plot.redraw();
    paintSoon();
  };
  // Shows the whole box in the part of the map that no tools or texts cover.
  function fit() {
    const [wide, high] = [overlay.clientWidth, overlay.clientHeight];
    const [top, bottom] = covered();
    const across = (((x1 - x0) * scale + 0.28) * high) / (2 * wide);
    const up = (((y1 - y0) * scale + 0.2) * high) / (2 * Math.max(1, high - top - bottom));
    const distance = Math.max(1, across, top + bottom ? up : 0);
    plot.reset({ preventEvent: true });
    plot.get('camera').lookAt([0, ((top - bottom) / high) * distance], distance);
    fitted = camera();
    plot.redraw();
    paintSoon();
  }
  enableTouch(canvas, {
    move,
    zoom,
    tap(x, y) {
      if (frame) return;
      const j = exemplarAt(x, y);
      const near = j >= 0 ? -1 : nearest(x, y, 24);
      if (j >= 0) onExemplar(j);
      else if (near >= 0) onPick(near);
      onHover(near); // shows the card; touch screens cannot hover
    },
    lassoing: () => lassoing,
    trace(path) {
      traced = path;
      paintSoon();
    },
    enclose(path) {
      traced = null;
      const chosen = within(path);
      paintSoon();
      if (!chosen.length) return;
      plot.select(chosen, { preventEvent: true });
      onSelect(chosen);
    },
  });

  // The visible points inside a closed path on the overlay.
  function within(path) {
    const chosen = [];
    const at = projection();
    const from = visible || { length: n };
    for (let k = 0; k < from.length; k++) {
      const i = visible ? visible[k] : k;
      const [x, y] = at(px[i], py[i]);
      let inside = false;
      for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
        const [[ax, ay], [bx, by]] = [path[a], path[b]];
        if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
      }
      if (inside) chosen.push(i);
    }
    return chosen;
  }

  // The visible point nearest to a place on the overlay, at most `within` pixels away; -1: none.
  function nearest(x, y, within) {
    let best = -1;
    let distance = within;
    const at = projection();
    const from = visible || { length: n };
    for (let k = 0; k < from.length; k++) {
      const i = visible ? visible[k] : k;
      const [sx, sy] = at(px[i], py[i]);
      const d = Math.hypot(sx - x, sy - y);
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }

  return {
    plot,
    screenOf: (i) => screen(px[i], py[i]),
    screenOfExemplar: (j) => screen(placeX(exemplars[j][0]), placeY(exemplars[j][1])),
    async draw() {
      await plot.draw({ x: px, y: py, valueA, valueB }, { zDataType: 'categorical', wDataType: 'categorical' });
      findErrors();
      fit();
    },
    async show(indices) {
      visible = indices;
      findErrors();
      resize();
      await (indices ? plot.filter(indices, { preventEvent: true }) : plot.unfilter({ preventEvent: true }));
    },
    setTheme(name, of) {
      theme = THEMES[name];
      colors = of;
      plot.set({ backgroundColor: theme.background, pointColor: colors, pointColorActive: theme.ink, pointColorHover: theme.ink, lassoColor: theme.ink });
      paintSoon();
    },
    setLasso(on) {
      lassoing = on;
      plot.set({ mouseMode: on ? 'lasso' : 'panZoom' });
    },
    select: (indices) => plot.select(indices, { preventEvent: true }),
    clear() {
      plot.deselect({ preventEvent: true });
      pinned = highlighted = -1;
      paintSoon();
    },
    pin(i) {
      pinned = i;
      paintSoon();
    },
    ringExemplar(j) {
      highlighted = j;
      paintSoon();
    },
    play(points) {
      frame = points;
      canvas.style.opacity = points ? 0 : 1;
      paintSoon();
    },
    tryAt(place) {
      tried = place;
      paintSoon();
    },
    move,
    zoom,
    fit,
    // The current view as a canvas.
    async picture() {
      const out = document.createElement('canvas');
      out.width = overlay.width;
      out.height = overlay.height;
      const g = out.getContext('2d');
      g.fillStyle = theme.background;
      g.fillRect(0, 0, out.width, out.height);
      if (!frame) {
        const data = await plot.export();
        const image = document.createElement('canvas');
        image.width = data.width;
        image.height = data.height;
        image.getContext('2d').putImageData(data, 0, 0);
        g.drawImage(image, 0, 0, out.width, out.height);
      }
      g.drawImage(overlay, 0, 0);
      return out;
    },
  };
}

// One finger pans or draws the lasso, two fingers zoom, a tap selects.
function enableTouch(canvas, { move, zoom, tap, lassoing, trace, enclose }) {
  let last = null;
  let path = null;
  let moved = 0;
  const read = (touches) => {
    const box = canvas.getBoundingClientRect();
    const at = [...touches].map((t) => [t.clientX - box.left, t.clientY - box.top]);
    const middle = [0, 1].map((d) => at.reduce((sum, p) => sum + p[d], 0) / at.length);
    return { middle, spread: at.length > 1 ? Math.hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]) : 0, fingers: at.length };
  };
  canvas.addEventListener('touchstart', (e) => {
    last = read(e.touches);
    moved = 0;
    path = lassoing() && last.fingers === 1 ? [last.middle] : null;
    e.preventDefault();
  }, { passive: false });
  canvas.addEventListener('touchmove', (e) => {
    const now = read(e.touches);
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (path) {
      moved += Math.hypot(now.middle[0] - last.middle[0], now.middle[1] - last.middle[1]);
      path.push(now.middle);
      trace(path);
    } else if (last && last.fingers === now.fingers) {
      const [dx, dy] = [now.middle[0] - last.middle[0], now.middle[1] - last.middle[1]];
      moved += Math.hypot(dx, dy) + Math.abs(now.spread - last.spread);
      move(((2 * dx) / w) * (w / h), (-2 * dy) / h);
      if (now.spread && last.spread)
        zoom(now.spread / last.spread, [((2 * now.middle[0]) / w - 1) * (w / h), 1 - (2 * now.middle[1]) / h]);
    }
    last = now;
    e.preventDefault();
  }, { passive: false });
  canvas.addEventListener('touchend', (e) => {
    if (last && moved < 8 && e.touches.length === 0) tap(...last.middle);
    else if (path) enclose(path);
    path = null;
    last = e.touches.length ? read(e.touches) : null;
    e.preventDefault();
  }, { passive: false });
}
