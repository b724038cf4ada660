// The tab "Try it": the user draws, edits or types a sample, and the model in the page embeds and
// classifies it.
import { about, columns, inputName } from '../data.js';
import { OTHER, dateText, daysOf, decodeRow, encodeRow, numberText } from '../columns.js';
import { announce, displayShape, element, mostlyBackground, picture, transposed } from '../card.js';
import { colorOf } from '../palette.js';
import { classChips } from './legend.js';

const EDITED = 64; // more inputs are not edited,
const ENCODED = 400; // unless they are encoded columns
const [low, high] = about.range;

const picturesOf = (x, name, caption) => element('figure', {}, picture(Array.from(x, level), about.image, 64, name), element('figcaption', {}, caption));

// The same for a model that does not classify: the nearest points of the map.
function createPlacement(host, { page, model, nearest, onPlace }, beside) {
  const box = element('div', { class: 'results' });
  host.append(box);
  return (x) => {
    box.replaceChildren();
    if (beside) beside.replaceChildren();
    if (!x) {
      onPlace(null);
      return;
    }
    const y = model.embed(x);
    const { first, list } = nearest(y);
    if (beside) beside.append(picturesOf(x, 'input of the model', 'input'));
    const name = first >= 0 && page.kind !== 'none' ? page.names[page.group[first]] : '';
    box.append(element('div', { class: 'answer' }, element('div', { class: name.length > 14 ? 'big long' : 'big', id: 'answer' }, name || 'On the map'),
      element('p', { class: 'note' }, `At ${[y[0], y[1]].map((value) => value.toPrecision(3)).join(', ')}${name ? `; the ${page.kind === 'class' ? 'label' : 'cluster'} of the nearest point` : ''}`)), list);
    onPlace({ x: y[0], y: y[1], label: first >= 0 ? page.group[first] : 0 });
    announce(name || 'Placed on the map', 500);
  };
}

// Creates the panel of results, with pictures in `beside`. Returns a function that classifies a
// sample; null empties the panel.
function createResults(host, tools, beside) {
  const { model, onPlace } = tools;
  if (!about.classifies) return createPlacement(host, tools, beside);
  const box = element('div', { class: 'results' });
  host.append(box);
  return (x) => {
    box.replaceChildren();
    if (beside) beside.replaceChildren();
    if (!x) {
      onPlace(null);
      return;
    }
    const result = model.classify(x, about.neighbours);
    const exemplar = model.exemplar(result.winner);
    const confidence = `confidence ${(100 * result.proba[result.label]).toFixed(1)} %`;
    const nearest = `nearest ${exemplar ? 'exemplar' : 'point'} ${result.winner}`;
    if (beside) beside.append(picturesOf(x, 'input of the model', 'input'), ...(exemplar ? [picturesOf(exemplar, 'nearest exemplar', `exemplar ${result.winner}`)] : []));
    box.append(element('div', { class: 'answer' }, element('div', { class: 'big', id: 'answer' }, model.classes[result.label]),
      element('p', { class: 'note' }, `${confidence}; ${nearest} at distance ${result.distance.toPrecision(3)}`)));
    const order = [...result.proba.keys()].sort((a, b) => result.proba[b] - result.proba[a]).slice(0, 10);
    for (const k of order.sort((a, b) => a - b))
      box.append(element('div', { class: 'bar' }, element('b', { title: model.classes[k] }, model.classes[k]),
        element('div', {}, element('i', { style: { width: `${100 * result.proba[k]}%`, background: colorOf(k) } })),
        element('span', {}, `${(100 * result.proba[k]).toFixed(1)} %`)));
    onPlace({ x: result.y[0], y: result.y[1], label: result.label });
    announce(`${model.classes[result.label]}, ${confidence}, ${nearest}`, 500);
  };
}

const level = (value) => (value - low) / (high - low || 1);

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

// The typical layout of the samples, as shares of the picture: size of the ink, its center of mass,
// width of the strokes. Drawings are normalized to it.
function sampleLayout(samples, n) {
  const [rows, columns] = displayShape(about.thumb);
  const found = { wide: [], high: [], longer: [], x: [], y: [], pen: [] };
  for (let i = 0; i < n && found.x.length < 300; i++) {
    const sample = samples(i);
    if (!sample) continue;
    const pixels = transposed(sample.pixels, about.thumb);
    let [x0, x1, y0, y1, mass, sx, sy, area, edge] = [columns, -1, rows, -1, 0, 0, 0, 0, 0];
    const inside = (x, y) => x >= 0 && y >= 0 && x < columns && y < rows && pixels[y * columns + x] > 7;
    pixels.forEach((p, k) => {
      const [x, y] = [k % columns, Math.floor(k / columns)];
      if (p > 7) {
        area++;
        edge += !inside(x - 1, y) + !inside(x + 1, y) + !inside(x, y - 1) + !inside(x, y + 1);
      }
      if (p < 3) return;
      [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
      mass += p;
      sx += p * (x + 0.5);
      sy += p * (y + 0.5);
    });
    if (!area) continue;
    found.wide.push((x1 - x0 + 1) / columns);
    found.high.push((y1 - y0 + 1) / rows);
    found.longer.push(Math.max(found.wide.at(-1), found.high.at(-1)));
    found.x.push(sx / mass / columns);
    found.y.push(sy / mass / rows);
    found.pen.push((2 * area) / (edge * (Math.PI / 4)) / rows); // the area of a line is half its edge times its width
  }
  if (!found.x.length) return { size: 0.72, x: 0.5, y: 0.5, pen: 0.09, stretched: false };
  const mean = (numbers) => numbers.reduce((sum, v) => sum + v, 0) / numbers.length;
  return {
    size: median(found.longer), x: mean(found.x), y: mean(found.y), pen: Math.min(0.2, median(found.pen)),
    stretched: median(found.wide) > 0.9 && median(found.high) > 0.9, // samples fill their pictures in both directions
  };
}

// Renders strokes (lists of [x, y], 0 to 1) as a picture in the size and the units of the data.
function render(strokes, layout) {
  const [rows, columns] = displayShape(about.image);
  const width = layout.pen;
  const all = strokes.flat();
  const xs = all.map((p) => p[0]);
  const ys = all.map((p) => p[1]);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const extent = Math.max(0.01, layout.size - width);
  const even = extent / Math.max(x1 - x0, y1 - y0, 0.12);
  const thin = Math.min(x1 - x0, y1 - y0) < 0.3 * Math.max(x1 - x0, y1 - y0);
  const [scaleX, scaleY] = !mostlyBackground ? [1, 1] : layout.stretched && !thin ? [extent / (x1 - x0 || 1), extent / (y1 - y0 || 1)] : [even, even];
  const place = ([x, y]) => [(x - (x0 + x1) / 2) * scaleX + 0.5, (y - (y0 + y1) / 2) * scaleY + 0.5];
  // fine: subpixels per pixel and direction
  const draw = (dx, dy, fine) => {
    const canvas = element('canvas', { width: columns * fine, height: rows * fine });
    const g = canvas.getContext('2d', { willReadFrequently: true });
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = '#000';
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.setTransform(canvas.width, 0, 0, canvas.height, dx * canvas.width, dy * canvas.height);
    g.strokeStyle = '#fff';
    g.lineCap = g.lineJoin = 'round';
    g.lineWidth = width;
    for (const stroke of strokes) {
      g.beginPath();
      stroke.forEach((at, i) => {
        if (i) g.lineTo(...place(at));
        else g.moveTo(...place(at));
      });
      if (stroke.length === 1) g.lineTo(place(stroke[0])[0] + 0.001, place(stroke[0])[1]);
      g.stroke();
    }
    const data = g.getImageData(0, 0, canvas.width, canvas.height).data;
    const out = new Float64Array(rows * columns);
    for (let y = 0; y < rows * fine; y++)
      for (let x = 0; x < columns * fine; x++) out[Math.floor(y / fine) * columns + Math.floor(x / fine)] += data[4 * (y * columns * fine + x)] / 255 / fine / fine;
    return out;
  };
  let [right, down] = [0, 0];
  if (mostlyBackground) { // move the center of mass to that of the data
    const ink = draw(0, 0, 2);
    let [mass, mx, my] = [0, 0, 0];
    ink.forEach((v, k) => {
      mass += v;
      mx += v * ((k % columns) + 0.5);
      my += v * (Math.floor(k / columns) + 0.5);
    });
    if (mass) [right, down] = [layout.x - mx / mass / columns, layout.y - my / mass / rows];
  }
  return transposed(draw(right, down, 8), [rows, columns]).map((v) => low + v * (high - low));
}

const STEP = 0.04; // share of the pad by which an arrow key moves the pen

function drawing(host, tools) {
  const layout = sampleLayout(tools.samples, tools.n);
  const pad = element('canvas', { id: 'pad', width: 480, height: 480, tabindex: 0, role: 'application', 'aria-label': 'Drawing pad. Arrow keys move the pen, Space lowers or lifts it, Delete clears.' });
  const clear = element('button', { type: 'button', id: 'clear-pad' }, 'Clear');
  const beside = element('div', { class: 'beside' });
  host.append(element('p', { class: 'note' }, 'Draw with mouse, pen, finger, or arrow keys and Space. Drawings are scaled like the data.'),
    element('div', { class: 'easel' }, pad, element('div', {}, clear, beside)));
  const classify = createResults(host, tools, beside);
  const g = pad.getContext('2d');
  let strokes = [];
  let drawingNow = false;
  let pen = null; // [x, y] of the pen that the keyboard moves
  const repaint = () => {
    g.clearRect(0, 0, pad.width, pad.height);
    g.strokeStyle = getComputedStyle(host).color;
    g.lineCap = g.lineJoin = 'round';
    g.lineWidth = 34;
    for (const stroke of strokes) {
      g.beginPath();
      g.moveTo(stroke[0][0] * pad.width, stroke[0][1] * pad.height);
      for (const [x, y] of stroke) g.lineTo(x * pad.width, y * pad.height + 0.01);
      g.stroke();
    }
    if (!pen) return;
    g.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
    g.lineWidth = drawingNow ? 10 : 4;
    g.beginPath();
    g.arc(pen[0] * pad.width, pen[1] * pad.height, 20, 0, 2 * Math.PI);
    g.stroke();
  };
  const at = (e) => {
    const box = pad.getBoundingClientRect();
    return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height];
  };
  let request = 0;
  const update = () => {
    repaint();
    if (!request) request = requestAnimationFrame(() => {
      request = 0;
      classify(strokes.length ? render(strokes, layout) : null);
    });
  };
  const empty = () => {
    strokes = [];
    drawingNow = false;
    update();
  };
  pad.addEventListener('pointerdown', (e) => {
    pad.setPointerCapture(e.pointerId);
    drawingNow = true;
    pen = null;
    strokes.push([at(e)]);
    update();
  });
  pad.addEventListener('pointermove', (e) => {
    if (!drawingNow || pen) return;
    strokes.at(-1).push(at(e));
    update();
  });
  for (const name of ['pointerup', 'pointercancel']) pad.addEventListener(name, () => (drawingNow = false));
  pad.addEventListener('keydown', (e) => {
    const directions = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
    if (e.key === 'Delete' || e.key === 'Backspace') empty();
    else if (e.key === ' ') {
      pen ||= [0.5, 0.5];
      drawingNow = !drawingNow;
      if (drawingNow) strokes.push([pen]);
      announce(drawingNow ? 'Pen down' : 'Pen up');
      update();
    } else if (directions[e.key]) {
      pen ||= [0.5, 0.5];
      pen = pen.map((v, d) => Math.min(0.96, Math.max(0.04, v + directions[e.key][d])));
      if (drawingNow) strokes.at(-1).push(pen);
      update();
    } else return;
    e.preventDefault();
  });
  pad.addEventListener('blur', () => {
    pen = null;
    drawingNow = false;
    repaint();
  });
  clear.addEventListener('click', empty);
  return { repaint, render: (of) => render(of, layout) };
}

function editing(host, tools) {
  const x = new Float64Array(about.inputs);
  const example = Array.from({ length: tools.n }, (_, i) => i).find((i) => tools.samples(i));
  if (example !== undefined) x.set(tools.samples(example).fields);
  const inputs = [];
  const form = element('div', {});
  const update = () => classify(x);
  for (let j = 0; j < about.inputs; j++) {
    const input = element('input', { type: 'number', step: 'any', value: Number(x[j].toPrecision(6)), oninput: () => {
      x[j] = Number(input.value) || 0;
      update();
    } });
    inputs.push(input);
    form.append(element('label', { class: 'field' }, element('span', {}, inputName(j)), input));
  }
  const classify = createResults(host, tools);
  host.lastChild.before(element('p', { class: 'note' }, 'Edit the fields, or select a point on the map to fill them in.'), form);
  return {
    start: update,
    from(sample) {
      x.set(sample.fields);
      inputs.forEach((input, j) => (input.value = Number(x[j].toPrecision(6))));
      update();
    },
  };
}

// The control of a column: {input, read(), write(value)}. An empty control is a missing value.
function makeControl(column, onChange) {
  const option = (value, text) => element('option', { value }, text);
  if (column.type === 'category' || column.type === 'boolean') {
    const texts = column.type === 'boolean' ? ['no', 'yes'] : column.categories;
    const input = element('select', { onchange: onChange }, ...texts.map((text, k) => option(k, text)), column.other || (column.missing && column.type === 'category') ? option('other', '(other)') : null, option('', '(missing)'));
    const values = column.type === 'boolean' ? [0, 1] : column.categories;
    return {
      input,
      read: () => (input.value === '' ? null : input.value === 'other' ? OTHER : values[Number(input.value)]),
      write: (value) => (input.value = value === null ? '' : value === OTHER ? 'other' : String(values.indexOf(value))),
    };
  }
  if (column.type === 'date') {
    const input = element('input', { type: column.time ? 'datetime-local' : 'date', oninput: onChange });
    return { input, read: () => daysOf(input.value), write: (value) => (input.value = value === null ? '' : dateText(value, column.time)) };
  }
  const input = element('input', { type: 'number', step: 'any', placeholder: 'missing', oninput: onChange });
  return { input, read: () => (input.value === '' ? null : Number(input.value)), write: (value) => (input.value = value === null ? '' : numberText(column, value)) };
}

// Edits the columns of a table. Their values become inputs as in the command.
function editingColumns(host, tools) {
  const example = Array.from({ length: tools.n }, (_, i) => i).find((i) => tools.samples(i));
  let values = decodeRow(columns, example === undefined ? encodeRow(columns, columns.map(() => null)) : tools.samples(example).fields);
  const update = () => classify(encodeRow(columns, values));
  const controls = columns.map((column, j) => {
    if (!column.inputs) return null;
    const control = makeControl(column, () => {
      values[j] = control.read();
      update();
    });
    return control;
  });
  const write = () => controls.forEach((control, j) => control && control.write(values[j]));
  const form = element('div', {}, ...controls.map((control, j) => control && element('label', { class: 'field column' }, element('span', { title: columns[j].name }, columns[j].name), control.input)));
  const classify = createResults(host, tools);
  host.lastChild.before(element('p', { class: 'note' }, 'Edit the fields, or select a point on the map to fill them in.'), form);
  write();
  return {
    start: update,
    from(sample) {
      values = decodeRow(columns, sample.fields);
      write();
      update();
    },
    encode: (row) => encodeRow(columns, row),
  };
}

function typing(host, tools) {
  const column = new Map(about.names.map((name, j) => [name.toLowerCase(), j]));
  const text = element('textarea', { id: 'words', rows: 5, spellcheck: 'false', 'aria-label': 'Words', placeholder: about.names.slice(0, 6).join(' ') });
  const known = element('div', { class: 'words' });
  host.append(element('p', { class: 'note' }, `Type words. The model knows ${about.names.length} words.`), text, known);
  const classify = createResults(host, tools);
  const update = () => {
    const x = new Float64Array(about.inputs);
    const found = new Map();
    for (const word of text.value.toLowerCase().split(/[^\p{L}\p{N}_'*.-]+/u)) {
      const j = column.get(word);
      if (j !== undefined) found.set(j, (found.get(j) || 0) + 1);
    }
    for (const [j, times] of found) x[j] = Math.min(times, high);
    known.replaceChildren(...[...found.keys()].map((j) => element('span', {}, about.names[j])));
    classify(found.size ? x : null);
  };
  text.addEventListener('input', update);
  return {
    from(sample) {
      text.value = sample.words.map(([j]) => about.names[j]).join(' ');
      update();
    },
  };
}

// Returns {from(sample), start(), repaint()}, each only if this kind of sample supports it.
export function createTry(host, tools) {
  const unavailable = (reason) => {
    host.append(element('p', { class: 'note' }, reason));
    return {};
  };
  if (!tools.model) return unavailable('The model is too large to include in the page.');
  const isWords = about.kind === 'words';
  if (isWords && !about.names) return unavailable('The data has no input names, so words cannot be typed.');
  if (about.kind !== 'image' && !isWords && (about.inputs > about.fields || about.inputs > (columns ? ENCODED : EDITED))) return unavailable(`Samples with ${about.inputs} inputs are too long to edit by hand.`);
  const made = about.kind === 'image' ? drawing(host, tools) : isWords ? typing(host, tools) : columns ? editingColumns(host, tools) : editing(host, tools);
  if (about.classifies) host.append(classChips(tools.page));
  return made;
}
