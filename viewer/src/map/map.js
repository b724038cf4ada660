// The map: a canvas with regions, exemplars and points, and a canvas above it for names, marks, the
// lasso, the animation and the sample of the tab "Try it". All drawing is done in software, so that
// the page does not need WebGL.
import { about } from '../data.js';
import { Camera } from './camera.js';
import { findAnchors, frameAnchors, placeLabels } from './labels.js';
import { paintFrame, paintLabels, paintLasso, paintMark, paintMatch, paintTried } from './over.js';
import { createPictures } from './pictures.js';
import { createPlaces, unitX, unitY, unitSize } from './places.js';
import { isInside, listen } from './pointer.js';
import { packed, paintDensity, paintDots } from './raster.js';
import { createRegionLayer, createRule } from './regions.js';
import { THEMES, font, mixed, ring } from './theme.js';

const DENSE = 300000; // more points in the view are drawn as a density,
const DENSE_SPREAD = 100000; // also so many in a map that spreads, where dots cover each other
const RINGED = 20000; // more errors have no rings above a density, which they would cover
const CLEAR = 0.99; // share of the places of a density that are not opaque, if no exemplars are below it
const TINT = 0.12; // of the regions
const MARKED = 400; // more points that the search finds have no rings
const EDGE = 40; // pixels

// An order of the points in which those of a class are not together, so that no class hides the
// others.
function drawingOrder(n) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 1;
  for (let i = n - 1; i > 0 && n <= DENSE; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

export function createMap({ canvas, overlay, points, isError, covered, obstacles, onHover, onPick, onSelect, onExemplar, onMove, onEmpty }) {
  const n = points.x.length;
  const places = createPlaces(points);
  const { u, v, exemplars } = places;
  const camera = new Camera();
  const order = drawingOrder(n);
  const bothParts = points.part.some((part) => part !== points.part[0]); // training points are then smaller
  const small = Uint8Array.from(points.part, (part) => Number(bothParts && part === 1));
  const wrong = Uint8Array.from(points.part, (_, i) => Number(isError(i)));
  const base = new Uint8Array(n).fill(1); // 0: hidden, 1: visible, 2: faded, because the search finds others
  const state = Uint8Array.from(base); // the same, with the selection: 2 also because others are selected

  let theme = THEMES.light;
  let colors = []; // of the classes
  let tints = []; // of their regions
  let coloring = { color: new Uint16Array(n), palette: [] };
  let naming = null; // of setNames
  let groups = null;
  let searching = false;
  let visible = n;
  let visibleErrors = 0;
  let rule = null; // of the regions
  let show = { regions: true, exemplars: true, pictures: true, labels: true };
  let samples = () => null;
  let anchors = [];
  let drawn = []; // pictures of the last drawing: [point, x, y]
  const pictures = createPictures({ order, state, wrong, spread: !exemplars.length, samples: (i) => samples(i) });
  let tried = null; // {x, y, label}
  let pinned = -1;
  let highlighted = -1; // exemplar
  let hovered = null;
  let frame = null; // of the animation: [u, v, class] for each point; null: the animation is not drawn
  let lassoing = false;
  let traced = null;

  const side = () => Math.min(camera.wide, camera.high);
  const diameter = () => Math.max(2.5, Math.min(7, 420 / Math.sqrt(visible + 1)) * Math.min(1, Math.max(0.6, side() / 500)));
  const opacity = () => Math.max(0.5, Math.min(0.9, 0.9 - 0.1 * Math.log10((visible + 1) / 2000)));

  // ---- the lower canvas ----

  const regions = createRegionLayer(() => paintSoon(true));
  const hasRegions = () => Boolean(show.regions && rule && !places.amount);
  const paintRegionLayer = (g, ratio, isScreen) => hasRegions() && regions.paint(g, rule, camera, tints, packed(theme.line), ratio, isScreen);

  const inView = ([x, y], margin = 0) => x > -margin && y > -margin && x < camera.wide + margin && y < camera.high + margin;
  const isCrowded = () => exemplars.length > 60 || side() < 320;
  const exemplarRadius = () => (isCrowded() ? 3.5 : 5);

  function paintExemplars(g) {
    if (!show.exemplars) return;
    exemplars.forEach(([a, b, k]) => {
      const at = camera.at(a, b);
      if (!inView(at, 10)) return;
      ring(g, at, exemplarRadius(), theme.halo, 4);
      ring(g, at, exemplarRadius(), mixed(colors[k], theme.ink, 0.25), 1.5);
    });
  }

  function countInView() {
    const [left, top] = camera.from(0, 0);
    const [right, bottom] = camera.from(camera.wide, camera.high);
    let [inside, matches] = [0, 0];
    for (let i = 0; i < n; i++) {
      if (!state[i] || u[i] < left || u[i] > right || v[i] < bottom || v[i] > top) continue;
      inside++;
      matches += base[i] === 1;
    }
    return { inside, matches };
  }

  function dots() {
    return {
      order, state, u, v, small, wrong, color: coloring.color, palette: Uint32Array.from(coloring.palette, packed),
      ringColor: points.label, ringPalette: Uint32Array.from(colors, packed), diameter: diameter(), alpha: opacity(),
    };
  }

  // Draws the points into the pixels that g has, all opaque.
  function paintPoints(g, ratio, inside) {
    const [wide, high] = [g.canvas.width, g.canvas.height];
    const image = g.getImageData(0, 0, wide, high);
    const target = { pixels: new Uint32Array(image.data.buffer), wide, high };
    const s = camera.scale * ratio;
    const view = { a: s, b: -s, x: wide / 2 - camera.x * s, y: high / 2 + camera.y * s };
    const all = dots();
    const isDense = inside > (exemplars.length ? DENSE : DENSE_SPREAD);
    if (isDense) paintDensity(target, all, view, Math.max(1, Math.floor(ratio)), exemplars.length ? 1 : CLEAR);
    if (!isDense || visibleErrors <= RINGED) paintDots(target, all, view, ratio, isDense);
    g.putImageData(image, 0, 0);
  }

  function paintBase(g, ratio, isScreen) {
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = theme.background;
    g.fillRect(0, 0, camera.wide, camera.high);
    paintRegionLayer(g, ratio, isScreen);
    paintExemplars(g);
    const { inside, matches } = countInView();
    if (isScreen) onEmpty(matches === 0 && visible > 0);
    paintPoints(g, ratio, inside);
    const taken = labels(g, isScreen).map(({ x, y, wide }) => [x - 4, y - nameSize() / 2 - 2, x + wide + 4, y + nameSize() / 2 + 2]);
    const chosen = show.pictures ? pictures.choose(camera, u, v, inside, [...taken, ...(isScreen ? obstacles() : [])]) : [];
    pictures.paint(g, chosen, (i) => coloring.palette[coloring.color[i]], (i) => colors[points.label[i]]);
    if (isScreen) drawn = chosen;
  }

  // ---- the upper canvas ----

  // The points that the search finds, if they have rings.
  function marked() {
    if (frame || !searching || visible > MARKED) return [];
    return Array.from(state.keys()).filter((i) => state[i] === 1).map((i) => camera.at(u[i], v[i]));
  }
  const markRadius = () => diameter() / 2 + 3;

  // The boxes of the rings of exemplars and of found points, which names should not cover. A crowded map
  // has no space beside exemplars.
  function circles() {
    const boxes = (list, radius) => list.map(([x, y]) => [x - radius, y - radius, x + radius, y + radius]);
    const rings = frame || !show.exemplars || isCrowded() ? [] : exemplars.map(([a, b]) => camera.at(a, b));
    return [...boxes(rings, exemplarRadius() + 1), ...boxes(marked(), markRadius() + 2)];
  }

  const nameSize = () => (anchors.length > 40 || side() < 320 ? 11.5 : 14);
  function labels(measureOn, isScreen) {
    if (!show.labels || !naming) return [];
    const measure = (text, bold) => {
      measureOn.font = font(nameSize(), bold);
      return measureOn.measureText(text).width;
    };
    return placeLabels(frame ? frameAnchors(frame, groups) : anchors, camera, measure, nameSize() + 3, isScreen ? obstacles() : [], circles());
  }

  const placeOf = (pick) => (pick.point >= 0 ? camera.at(u[pick.point], v[pick.point]) : camera.at(exemplars[pick.exemplar][0], exemplars[pick.exemplar][1]));

  function paintOver(g, isScreen) {
    if (frame) paintFrame(g, frame, camera, colors);
    else for (const at of marked()) paintMatch(g, at, markRadius(), theme);
    paintLabels(g, labels(g, isScreen), theme, nameSize());
    if (!frame) {
      if (highlighted >= 0) paintMark(g, placeOf({ exemplar: highlighted }), exemplarRadius() + 4, theme);
      if (pinned >= 0) paintMark(g, placeOf({ point: pinned }), diameter() / 2 + 5, theme);
      if (isScreen && hovered) paintMark(g, placeOf(hovered), hovered.point >= 0 ? diameter() / 2 + 3.5 : exemplarRadius() + 2, theme);
      if (tried) paintTried(g, camera.at(unitX(tried.x), unitY(tried.y)), colors[tried.label], theme);
    }
    if (traced && isScreen) paintLasso(g, traced, theme);
  }

  // ---- drawing ----

  let request = 0;
  let stale = true; // the lower canvas
  function fitCanvas(of, options) {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const [wide, high] = [Math.round(overlay.clientWidth * ratio), Math.round(overlay.clientHeight * ratio)];
    if (of.width !== wide || of.height !== high) [of.width, of.height] = [wide, high];
    return [of.getContext('2d', options), ratio];
  }

  function paint() {
    cancelAnimationFrame(request);
    request = 0;
    if (!colors.length || !overlay.clientWidth || !overlay.clientHeight) return; // before the start, or in a hidden frame
    if (stale && !frame) {
      const [g, ratio] = fitCanvas(canvas, { alpha: false, willReadFrequently: true });
      paintBase(g, ratio, true);
      stale = false;
    }
    const [g, ratio] = fitCanvas(overlay);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, overlay.clientWidth, overlay.clientHeight);
    paintOver(g, true);
  }

  function paintSoon(all) {
    stale ||= Boolean(all);
    if (!request) request = requestAnimationFrame(paint);
  }

  function moved() {
    paintSoon(true);
    onMove();
  }

  // Shows the whole box in the part of the map that no tools or texts cover.
  function fit() {
    camera.fit(places.box, ...covered());
    moved();
  }

  function resize() {
    [camera.wide, camera.high] = [overlay.clientWidth || 1, overlay.clientHeight || 1];
    if (camera.fitted) fit();
    else paintSoon(true);
  }
  new ResizeObserver(resize).observe(overlay);

  // ---- the pointer ----

  // What is at a pixel: the visible point that is nearest, else an exemplar; null: neither. Hovering
  // and clicking both use it.
  function pickAt(x, y, touch) {
    const over = pictures.at(drawn, x, y);
    if (over) return { point: over[0] };
    const reach = touch ? 24 : Math.max(6, diameter() / 2 + 3);
    const [a, b] = camera.from(x, y);
    let [best, distance] = [-1, (reach / camera.scale) ** 2];
    for (let i = 0; i < n; i++) {
      if (!state[i]) continue;
      const d = (u[i] - a) ** 2 + (v[i] - b) ** 2;
      if (d <= distance) [best, distance] = [i, d];
    }
    if (best >= 0) return { point: best };
    const radius = exemplarRadius() + (touch ? 14 : 3);
    let [exemplar, closest] = [-1, (radius / camera.scale) ** 2];
    exemplars.forEach(([c, d], j) => {
      const far = (c - a) ** 2 + (d - b) ** 2;
      if (show.exemplars && far <= closest) [exemplar, closest] = [j, far];
    });
    return exemplar >= 0 ? { exemplar } : null;
  }

  function within(path) {
    const chosen = [];
    for (let i = 0; i < n; i++) if (base[i] === 1 && isInside(path, ...camera.at(u[i], v[i]))) chosen.push(i);
    return chosen;
  }

  function hover(pick, x, y) {
    hovered = pick;
    canvas.style.cursor = lassoing ? 'crosshair' : pick ? 'pointer' : '';
    onHover(pick, x, y);
    paintSoon();
  }

  listen(canvas, {
    pan(dx, dy) {
      camera.pan(dx, dy);
      moved();
    },
    zoom(factor, x, y) {
      camera.zoom(factor, x, y);
      moved();
    },
    hover: (x, y) => hover(frame ? null : pickAt(x, y, false), x, y),
    leave: () => hover(null),
    click(x, y, touch) {
      if (frame) return;
      const pick = pickAt(x, y, touch);
      if (!pick) onSelect([]);
      else if (pick.point >= 0) onPick(pick.point);
      else onExemplar(pick.exemplar);
      if (touch) hover(pick, x, y); // shows the card; touch screens cannot hover
    },
    lassoing: () => lassoing,
    trace(path) {
      traced = path;
      paintSoon();
    },
    enclose(path) {
      const chosen = frame ? [] : within(path);
      if (chosen.length) select(chosen);
      if (!frame) onSelect(chosen);
    },
  });

  const findNames = () => (anchors = naming ? findAnchors(places, base, naming) : []);

  function select(indices) {
    for (let i = 0; i < n; i++) state[i] = indices && base[i] === 1 ? 2 : base[i];
    for (const i of indices || []) state[i] = 1;
    paintSoon(true);
  }

  const shareNear = () => (places.canSpread ? places.shareNear(10.5 / camera.scale) : 0);
  return {
    camera, paint, fit, pickAt,
    screenOf: (i) => camera.at(u[i], v[i]),
    screenOfExemplar: (j) => camera.at(exemplars[j][0], exemplars[j][1]),
    canSpread: places.canSpread,
    shareNear,
    start(of, model) {
      samples = of;
      if (model && exemplars.length && exemplars.length <= 1000 && about.outputs === 2)
        rule = createRule({ exemplars, classes: about.classes.length, neighbours: about.neighbours, unit: unitSize, ...model.rule });
      paintSoon(true);
    },
    hasRegions: () => Boolean(rule),
    classAt: (x, y) => rule(...camera.from(x, y)),
    // mask: 1 for each visible point, 2 for those that the search does not find. count: of the visible ones.
    show(mask, count) {
      base.set(mask);
      state.set(mask);
      searching = mask.includes(2);
      visible = count;
      visibleErrors = wrong.reduce((sum, is, i) => sum + (is && mask[i] === 1), 0);
      findNames();
      resize();
      paintSoon(true);
    },
    setShow(parts) {
      show = { ...show, ...parts };
      paintSoon(true);
    },
    spread(amount) {
      places.spread(amount);
      findNames();
      if (camera.fitted) fit();
      paintSoon(true);
    },
    setTheme(name, of) {
      theme = THEMES[name];
      colors = of;
      tints = colors.map((color) => packed(mixed(theme.background, color, TINT)));
      pictures.forget();
      paintSoon(true);
    },
    // color: an index into the palette for each point.
    setColoring(of) {
      coloring = of;
      paintSoon(true);
    },
    // of: {group, names, skip, winner}: the group of each point, the names, and the first group without a
    // name. winner: a group may have names at several exemplars. forFrames: the same for the animation.
    setNames(of, forFrames) {
      naming = of;
      groups = forFrames;
      findNames();
      paintSoon(true);
    },
    setLasso(on) {
      lassoing = on;
      canvas.style.cursor = on ? 'crosshair' : '';
    },
    select,
    clear() {
      select(null);
      pinned = highlighted = -1;
    },
    pin(i) {
      pinned = i;
      paintSoon();
    },
    ringExemplar(j) {
      highlighted = j;
      paintSoon();
    },
    play(frames) {
      frame = frames && frames.map(([x, y, k]) => [unitX(x), unitY(y), k]);
      canvas.style.visibility = frames ? 'hidden' : '';
      paintSoon(true);
    },
    tryAt(place) {
      tried = place;
      paintSoon();
    },
    move(dx, dy) { // shares of the height
      camera.pan(dx * camera.high, dy * camera.high);
      moved();
    },
    zoom(factor) {
      camera.zoom(factor);
      moved();
    },
    // Moves a point that is outside the view, or near its edge, to the middle.
    reveal(i) {
      const [x, y] = camera.at(u[i], v[i]);
      if (x > EDGE && y > EDGE && x < camera.wide - EDGE && y < camera.high - EDGE) return;
      camera.pan(camera.wide / 2 - x, camera.high / 2 - y);
      moved();
    },
    // The `count` visible points nearest to a position of the model.
    nearest(y, count) {
      const [a, b] = [unitX(y[0]), unitY(y[1])];
      const best = [];
      for (let i = 0; i < n; i++) {
        const d = base[i] === 1 ? (u[i] - a) ** 2 + (v[i] - b) ** 2 : Infinity;
        if (d === Infinity || (best.length === count && d >= best.at(-1)[1])) continue;
        best.splice(best.findLastIndex(([, other]) => other <= d) + 1, 0, [i, d]);
        if (best.length > count) best.pop();
      }
      return best.map(([i]) => i);
    },
    view: () => camera.get(),
    setView(view) {
      if (view) camera.set(view);
      else fit();
      paintSoon(true);
    },
    // For files (figure.js): draws the view, or lists what is in it.
    paintOn(g, ratio) {
      if (!frame) paintBase(g, ratio, false);
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      paintOver(g, false);
    },
    paintUnder(g, ratio) {
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.fillStyle = theme.background;
      g.fillRect(0, 0, camera.wide, camera.high);
      paintRegionLayer(g, ratio, false);
    },
    scene(g) {
      const list = [];
      for (const i of order) {
        const [x, y] = camera.at(u[i], v[i]);
        if (state[i] && inView([x, y], 8)) list.push({ x, y, color: coloring.palette[coloring.color[i]], faded: state[i] === 2, small: small[i], ring: wrong[i] && state[i] === 1 ? colors[points.label[i]] : null });
      }
      const marks = show.exemplars ? exemplars.map(([a, b, k]) => [...camera.at(a, b), colors[k]]).filter((at) => inView(at, 10)) : [];
      return { theme, wide: camera.wide, high: camera.high, dots: list, marks, labels: labels(g, false), diameter: diameter(), opacity: opacity(), radius: exemplarRadius(), nameSize: nameSize(), pictures: drawn.map(([i]) => i), asPicture: Boolean(frame) || drawn.length > 0, hasRegions: hasRegions() };
    },
  };
}
