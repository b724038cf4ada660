// Try it: a new sample is drawn, edited or typed, and the model inside the page places and classifies it.
import { about, inputName } from './data.js';
import { element, inkOnPaper, picture, say, seenShape, turn } from './card.js';
import { colourOf } from './palette.js';

const [low, high] = about.range;

// Shows what the model says, pictures in `beside`; gives a function of a sample, null: nothing yet.
function answers(host, { model, onPlace }, beside) {
  const box = element('div', {});
  host.append(box);
  const shown = (x, name, of) => element('figure', {}, picture(Array.from(x, level), about.image, 64, name), element('figcaption', {}, of));
  return (x) => {
    box.replaceChildren();
    if (beside) beside.replaceChildren();
    if (!x) {
      onPlace(null);
      return;
    }
    const result = model.classify(x, about.neighbours);
    const won = model.exemplar(result.winner);
    const sure = `${(100 * result.proba[result.label]).toFixed(1)} %`;
    const wins = `${won ? 'exemplar' : 'point'} ${result.winner} wins`;
    if (beside) beside.append(shown(x, 'what the model sees', 'seen'), ...(won ? [shown(won, 'the winning exemplar', `winner ${result.winner}`)] : []));
    box.append(element('div', { class: 'answer' }, element('div', { class: 'big', id: 'answer' }, model.classes[result.label]),
      element('p', { class: 'note' }, `${sure} sure; ${wins}, ${result.distance.toPrecision(3)} away`)));
    const order = [...result.proba.keys()].sort((a, b) => result.proba[b] - result.proba[a]).slice(0, 10);
    for (const k of order.sort((a, b) => a - b))
      box.append(element('div', { class: 'bar' }, element('b', { title: model.classes[k] }, model.classes[k]),
        element('div', {}, element('i', { style: { width: `${100 * result.proba[k]}%`, background: colourOf(k) } })),
        element('span', {}, `${(100 * result.proba[k]).toFixed(1)} %`)));
    onPlace({ x: result.y[0], y: result.y[1], label: result.label });
    say(`${model.classes[result.label]}, ${sure} sure, ${wins}`, 500);
  };
}

const level = (value) => (value - low) / (high - low || 1);

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

// How samples lie in their pictures, as shares of the picture: width and height of the ink, its middle, the pen's width. A
// drawing is brought to the same.
function habit(samples, n) {
  const [rows, columns] = seenShape(about.thumb);
  const found = { wide: [], high: [], longer: [], x: [], y: [], pen: [] };
  for (let i = 0; i < n && found.x.length < 300; i++) {
    const sample = samples(i);
    if (!sample) continue;
    const pixels = turn(sample.pixels, about.thumb);
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
    found.pen.push((2 * area) / (edge * (Math.PI / 4)) / rows); // a line's area is half its edge times its width
  }
  if (!found.x.length) return { size: 0.72, x: 0.5, y: 0.5, pen: 0.09, stretched: false };
  const mean = (numbers) => numbers.reduce((sum, v) => sum + v, 0) / numbers.length;
  return {
    size: median(found.longer), x: mean(found.x), y: mean(found.y), pen: Math.min(0.2, median(found.pen)),
    stretched: median(found.wide) > 0.9 && median(found.high) > 0.9, // every sample fills its picture both ways
  };
}

// Strokes (lists of [x, y], 0 to 1) as a picture of the data's size, in the data's units.
function render(strokes, usual) {
  const [rows, columns] = seenShape(about.image);
  const width = usual.pen;
  const all = strokes.flat();
  const xs = all.map((p) => p[0]);
  const ys = all.map((p) => p[1]);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const room = Math.max(0.01, usual.size - width);
  const even = room / Math.max(x1 - x0, y1 - y0, 0.12);
  const thin = Math.min(x1 - x0, y1 - y0) < 0.3 * Math.max(x1 - x0, y1 - y0);
  const [scaleX, scaleY] = !inkOnPaper ? [1, 1] : usual.stretched && !thin ? [room / (x1 - x0 || 1), room / (y1 - y0 || 1)] : [even, even];
  const place = ([x, y]) => [(x - (x0 + x1) / 2) * scaleX + 0.5, (y - (y0 + y1) / 2) * scaleY + 0.5];
  // fine: pixels across one of the picture
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
  if (inkOnPaper) { // its middle of mass to where the data has it
    const ink = draw(0, 0, 2);
    let [mass, mx, my] = [0, 0, 0];
    ink.forEach((v, k) => {
      mass += v;
      mx += v * ((k % columns) + 0.5);
      my += v * (Math.floor(k / columns) + 0.5);
    });
    if (mass) [right, down] = [usual.x - mx / mass / columns, usual.y - my / mass / rows];
  }
  return turn(draw(right, down, 8), [rows, columns]).map((v) => low + v * (high - low));
}

const STEP = 0.04; // of the pad, that an arrow key moves the pen

function drawing(host, tools) {
  const usual = habit(tools.samples, tools.n);
  const pad = element('canvas', { id: 'pad', width: 480, height: 480, tabindex: 0, role: 'application', 'aria-label': 'Drawing pad. Arrow keys move the pen, Space sets it down or lifts it, Delete clears.' });
  const clear = element('button', { type: 'button', id: 'clear-pad' }, 'Clear');
  const beside = element('div', { class: 'beside' });
  host.append(element('p', { class: 'note' }, 'Draw with mouse, pen, finger, or arrow keys and Space. The drawing is centred and sized as the data are.'),
    element('div', { class: 'easel' }, pad, element('div', {}, clear, beside)));
  const tell = answers(host, tools, beside);
  const g = pad.getContext('2d');
  let strokes = [];
  let drawingNow = false;
  let pen = null; // [x, y] where the keyboard has it
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
  let asked = 0;
  const update = () => {
    repaint();
    if (!asked) asked = requestAnimationFrame(() => {
      asked = 0;
      tell(strokes.length ? render(strokes, usual) : null);
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
    const ways = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
    if (e.key === 'Delete' || e.key === 'Backspace') empty();
    else if (e.key === ' ') {
      pen ||= [0.5, 0.5];
      drawingNow = !drawingNow;
      if (drawingNow) strokes.push([pen]);
      say(drawingNow ? 'Pen down' : 'Pen up');
      update();
    } else if (ways[e.key]) {
      pen ||= [0.5, 0.5];
      pen = pen.map((v, d) => Math.min(0.96, Math.max(0.04, v + ways[e.key][d])));
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
  return { repaint, render: (of) => render(of, usual) };
}

function editing(host, tools) {
  const x = new Float64Array(about.inputs);
  const example = Array.from({ length: tools.n }, (_, i) => i).find((i) => tools.samples(i));
  if (example !== undefined) x.set(tools.samples(example).fields);
  const inputs = [];
  const form = element('div', {});
  const tell = () => show(x);
  for (let j = 0; j < about.inputs; j++) {
    const input = element('input', { type: 'number', step: 'any', value: Number(x[j].toPrecision(6)), oninput: () => {
      x[j] = Number(input.value) || 0;
      tell();
    } });
    inputs.push(input);
    form.append(element('label', { class: 'field' }, element('span', {}, inputName(j)), input));
  }
  const show = answers(host, tools);
  host.prepend(element('p', { class: 'note' }, 'Change the fields. A point chosen on the map fills them in.'), form);
  return {
    start: tell,
    from(sample) {
      x.set(sample.fields);
      inputs.forEach((input, j) => (input.value = Number(x[j].toPrecision(6))));
      tell();
    },
  };
}

function typing(host, tools) {
  const column = new Map(about.names.map((name, j) => [name.toLowerCase(), j]));
  const text = element('textarea', { id: 'words', rows: 5, spellcheck: 'false', 'aria-label': 'Words', placeholder: about.names.slice(0, 6).join(' ') });
  const known = element('div', { class: 'words' });
  host.append(element('p', { class: 'note' }, `Type words. The model knows ${about.names.length}.`), text, known);
  const tell = answers(host, tools);
  const update = () => {
    const x = new Float64Array(about.inputs);
    const found = new Map();
    for (const word of text.value.toLowerCase().split(/[^\p{L}\p{N}_'*.-]+/u)) {
      const j = column.get(word);
      if (j !== undefined) found.set(j, (found.get(j) || 0) + 1);
    }
    for (const [j, times] of found) x[j] = Math.min(times, high);
    known.replaceChildren(...[...found.keys()].map((j) => element('span', {}, about.names[j])));
    tell(found.size ? x : null);
  };
  text.addEventListener('input', update);
  return {
    from(sample) {
      text.value = sample.words.map(([j]) => about.names[j]).join(' ');
      update();
    },
  };
}

// {from(sample), start(), repaint()}, each where it makes sense.
export function createTry(host, tools) {
  const no = (why) => {
    host.append(element('p', { class: 'note' }, why));
    return {};
  };
  if (!tools.model) return no('The model is too large to travel in a page.');
  if (about.kind === 'image') return drawing(host, tools);
  if (about.kind === 'words') return about.names ? typing(host, tools) : no('The words of this data have no names, so that none can be typed.');
  if (about.inputs > about.fields) return no(`Samples of ${about.inputs} inputs are too long to be edited by hand.`);
  return editing(host, tools);
}
