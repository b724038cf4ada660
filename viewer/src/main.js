// The page: filters, selection, panels and keys around the map.
import { about, block, count, percent, readPoints, readSamples } from './data.js';
import { element, picture, repaintPictures, sampleParts, announce } from './card.js';
import { classColors, colorOf, useColors } from './palette.js';
import { createAnimation } from './animation.js';
import { csv, save } from './files.js';
import { createMap } from './map.js';
import { createTry } from './try.js';
import { latency, sizeText, timeText } from './cost.js';
import { readModel } from './model.js';

const $ = (id) => document.getElementById(id);
const c = about.classes.length;
const UNLABELED = c;
const names = [...about.classes, 'no label', 'unknown class'];

// correctness: 0 all, 1 correct, 2 misclassified; confidence: highest probability shown, in
// percent; cell: [true, predicted]
const filters = { hidden: new Set(), part: -1, correctness: 0, confidence: 100, cell: null, exemplar: -1, search: '' };

const nextPaint = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

async function start() {
  showHeader();
  await nextPaint(); // the header appears before the points are decoded
  const points = await readPoints();
  const n = points.x.length;
  let labeled = false;
  for (let i = 0; i < n && !labeled; i++) labeled = points.truth[i] !== UNLABELED;
  const group = labeled ? points.truth : points.label;
  const isError = (i) => points.truth[i] !== UNLABELED && points.truth[i] !== points.label[i];
  const page = { points, n, labeled, group, isError, samples: () => null, model: null, visible: null, pinned: -1, ready: false };

  const whenReady = (act) => (...what) => page.ready && act(page, ...what);
  page.map = createMap({
    canvas: $('points'), overlay: $('overlay'), box: about.box, points, names, group, isError, exemplars: about.exemplars,
    covered: coveredHeights,
    onHover: whenReady(hover),
    onPick: whenReady(pick),
    onSelect: whenReady(select),
    onExemplar: whenReady(chooseExemplar),
  });
  paintTheme(page);
  await page.map.draw();
  $('wait').remove();

  page.samples = await readSamples(n);
  const bytes = about.runs ? await block('model') : null;
  page.model = bytes && readModel(bytes.buffer);
  makeClasses(page);
  makeFilters(page);
  makeMatrix(page);
  makeImportance();
  makeExemplars(page);
  makeTools(page);
  makeKeys(page);
  page.try = createTry($('try'), { model: page.model, samples: page.samples, n, onPlace: (place) => page.map.tryAt(place) });
  if (about.history.length) {
    $('tab-training').hidden = false;
    page.animation = await createAnimation($('training'), page);
  }
  makeTabs(page);
  await refresh(page);
  page.ready = true;
  // Used by the tests; handy in the console.
  window.enhope = { about, page, classify: (x) => page.model.classify(x, about.neighbours), draw: page.try.render };
  document.documentElement.dataset.ready = 'yes';
  await nextPaint();
  if (page.model) $('latency').textContent = timeText(latency(page.model, about.neighbours));
}

function showHeader() {
  const data = about.data.replace(/^synthetic:(\w+).*/, 'synthetic $1');
  const title = about.title || `${data}, embedded by ${about.method}`;
  document.title = title;
  document.documentElement.style.setProperty('--name', `${Math.min(12, Math.max(...about.classes.map((name) => name.length)))}ch`);
  $('title').textContent = title;
  const parts = about.parts.map((p) => `${count(p.n)} ${p.name === 'all' ? '' : p.name.replace(' ', '-') + ' '}points`).join(', ');
  $('subtitle').textContent = `${about.title ? data + ', ' + about.method + ', ' : ''}${parts}, ${c} classes` + (about.exemplars.length ? `, ${about.exemplars.length} exemplars` : '');
  for (const part of about.parts) {
    if (!part.labelled) continue;
    const what = part.name === 'held out' ? 'held-out error' : part.name === 'training' ? 'training error' : 'error';
    $('figures').append(element('div', { class: 'figure' }, element('b', {}, percent(part.errors, part.labelled)),
      element('span', {}, `${what}, ${count(part.errors)} of ${count(part.labelled)}`)));
  }
  $('figures').append(element('div', { class: 'figure', id: 'model-cost' }, element('b', {}, sizeText(about.bytes)),
    element('span', { title: 'Size of the model file; time to classify a sample in this browser' }, 'model', ...(about.runs ? [', ', element('span', { id: 'latency' }, '…'), ' a sample'] : []))));
  const notes = [];
  if (about.n < about.total) notes.push(`Showing ${count(about.n)} of ${count(about.total)} points, the same share of each class. The errors above cover all points.`);
  const summary = [];
  if (about.details < about.n) summary.push(about.details ? `Samples are included for ${count(about.details)} points, misclassified points first.` : 'The page includes no samples.');
  if (about.outputs > 2) notes.push(`The embedding has ${about.outputs} dimensions; the map shows the first two.`);
  summary.push(`Created by enhope ${about.version} from ${about.model}.`);
  $('summary').textContent = summary.join(' ');
  $('notes').textContent = notes.join(' ');
  $('notes').hidden = !notes.length;
}

// Heights in pixels that the tools cover at the top of the map and the status text at the bottom.
// They are 0 on a wide map without notes.
function coveredHeights() {
  const narrow = $('map').clientWidth < 600;
  return [narrow ? document.querySelector('.tools').offsetHeight + 16 : 0, narrow || !$('notes').hidden ? document.querySelector('.status').offsetHeight + 16 : 0];
}

// ---- importance ----

// Bars of the increase of the error, or of the log loss if no column changes the error.
function makeImportance() {
  const LISTED = 10;
  const { importance } = about;
  if (!importance) return;
  const byError = importance.columns.some(([, error]) => error > 0);
  const value = ([, error, loss]) => (byError ? error : loss);
  const all = [...importance.columns].sort((a, b) => value(b) - value(a));
  const max = Math.max(...all.map(value), 1e-9);
  const text = (column) => `${value(column) < 0 ? '−' : '+'}${byError ? (100 * Math.abs(value(column))).toFixed(1) : Math.abs(value(column)).toFixed(3)}`;
  const show = (listed) => $('importance-bars').replaceChildren(...listed.map((column) =>
    element('div', { class: 'bar column', role: 'listitem' }, element('b', { title: column[0] }, column[0]),
      element('div', {}, element('i', { style: { width: `${(100 * Math.max(0, value(column))) / max}%`, background: 'var(--accent)' } })), element('span', {}, text(column)))));
  $('importance').hidden = false;
  $('importance-note').textContent = `Increase of the ${byError ? 'error, in percentage points,' : 'log loss'} if the values of a column are exchanged between samples (${count(importance.n)} samples).`;
  $('all-columns').hidden = all.length <= LISTED;
  $('all-columns').textContent = `Show all ${count(all.length)} columns`;
  $('all-columns').addEventListener('click', () => {
    show(all);
    $('all-columns').hidden = true;
  });
  show(all.slice(0, LISTED));
}

// ---- filters ----

function passes(page, i) {
  const { points } = page;
  if (filters.hidden.has(page.group[i])) return false;
  if (filters.part >= 0 && points.part[i] !== filters.part) return false;
  if (filters.correctness && page.isError(i) !== (filters.correctness === 2)) return false;
  if (filters.confidence < 100 && points.proba[i] > filters.confidence * 655.35) return false;
  if (filters.cell && (points.truth[i] !== filters.cell[0] || points.label[i] !== filters.cell[1])) return false;
  if (filters.exemplar >= 0 && points.winner[i] !== filters.exemplar) return false;
  return !filters.match || filters.match(i);
}

// A predicate for the points that match the text of the search field; null if the text is empty.
function matching(page, text) {
  if (!text) return null;
  const row = /^#?\d+$/.test(text) ? Number(text.replace('#', '')) : -1;
  const fits = (name) => (row >= 0 ? name === text : name.includes(text));
  const classes = new Set([...names.keys()].filter((k) => fits(names[k].toLowerCase())));
  return (i) => page.points.row[i] === row || classes.has(page.group[i]);
}

async function refresh(page) {
  const text = filters.search.trim().toLowerCase();
  filters.match = matching(page, text);
  const visible = [];
  let errors = 0;
  for (let i = 0; i < page.n; i++) {
    if (!passes(page, i)) continue;
    visible.push(i);
    errors += page.isError(i);
  }
  page.visible = visible;
  $('visible-count').textContent = `${count(visible.length)} of ${count(page.n)} points` + (page.labeled && visible.length ? `, ${count(errors)} misclassified` : '');
  await draw(page);
  if (text && visible.length && visible.length <= 20) {
    const row = visible.find((i) => page.points.row[i] === Number(text.replace('#', '')));
    if (row !== undefined) pick(page, row);
  }
}

// Draws the visible points. Calls made while a drawing is under way are combined into one further
// drawing.
async function draw(page) {
  page.redraw = true;
  if (!page.drawing)
    page.drawing = (async () => {
      while (page.redraw) {
        page.redraw = false;
        await page.map.show(page.visible.length === page.n ? null : page.visible);
      }
      page.drawing = null;
    })();
  await page.drawing;
}

function makeClasses(page) {
  const sizes = new Int32Array(c + 2);
  const wrong = new Int32Array(c + 2);
  for (let i = 0; i < page.n; i++) {
    sizes[page.group[i]]++;
    wrong[page.group[i]] += page.isError(i);
  }
  const buttons = [];
  const update = () => {
    buttons.forEach(([k, button]) => button.setAttribute('aria-pressed', !filters.hidden.has(k)));
    refresh(page);
  };
  const toggle = (k, alone) => {
    const others = buttons.map(([j]) => j).filter((j) => j !== k);
    if (alone) filters.hidden = new Set(others);
    else if (!filters.hidden.delete(k)) filters.hidden.add(k);
    update();
  };
  for (let k = 0; k < c + 2; k++) {
    if (!sizes[k]) continue;
    const button = element('button', { type: 'button', class: 'class', 'data-class': k, 'aria-pressed': 'true', title: 'Click to show or hide this class; double-click to show only this class',
      onclick: (e) => toggle(k, e.altKey), ondblclick: () => toggle(k, true) },
      element('i', { style: { background: colorOf(k), boxShadow: `inset 0 0 0 2px ${colorOf(k)}` } }), element('b', {}, names[k]), element('span', {}, count(sizes[k])),
      page.labeled ? element('span', { class: 'rate', title: 'misclassified' }, percent(wrong[k], sizes[k], 1)) : null);
    buttons.push([k, button]);
  }
  $('classes').append(...buttons.map(([, button]) => button));
  $('all-classes').addEventListener('click', () => {
    filters.hidden.clear();
    update();
  });
  $('no-classes').addEventListener('click', () => {
    filters.hidden = new Set(buttons.map(([k]) => k));
    update();
  });
  let timer = 0;
  $('search').addEventListener('input', (e) => {
    clearTimeout(timer);
    filters.search = e.target.value;
    timer = setTimeout(() => refresh(page), 120);
  });
}

function segments(host, choices, pressed, onChoose) {
  const buttons = choices.map(([name, value]) => element('button', { type: 'button', 'aria-pressed': String(value === pressed), onclick: () => {
    buttons.forEach((b) => b.setAttribute('aria-pressed', b === buttons[choices.findIndex((x) => x[1] === value)]));
    onChoose(value);
  } }, name));
  host.append(...buttons);
}

function makeFilters(page) {
  if (about.parts.length > 1)
    segments($('parts'), [['All', -1], ['Training', 1], ['Held out', 0]], -1, (value) => {
      filters.part = value;
      refresh(page);
    });
  else $('parts').hidden = true;
  if (page.labeled)
    segments($('correctness'), [['All', 0], ['Correct', 1], ['Errors', 2]], 0, (value) => {
      filters.correctness = value;
      refresh(page);
    });
  else $('correctness').hidden = true;
  $('confidence').addEventListener('input', (e) => {
    filters.confidence = Number(e.target.value);
    $('confidence-value').textContent = `${filters.confidence} %`;
    refresh(page);
  });
}

// The confusion matrix; with more than 12 classes, a list of the most frequent confusions.
function makeMatrix(page) {
  if (!page.labeled) {
    $('confusions').hidden = true;
    return;
  }
  const table = new Map();
  for (let i = 0; i < page.n; i++) {
    const key = page.points.truth[i] * (c + 2) + page.points.label[i];
    if (page.points.truth[i] !== UNLABELED) table.set(key, (table.get(key) || 0) + 1);
  }
  const buttons = [];
  const choose = (t, p, button) => {
    const same = filters.cell && filters.cell[0] === t && filters.cell[1] === p;
    filters.cell = same ? null : [t, p];
    buttons.forEach((b) => b.setAttribute('aria-pressed', b === button && !same));
    $('clear-cell').hidden = same;
    refresh(page);
  };
  $('clear-cell').addEventListener('click', () => choose(...filters.cell, null));
  const cell = (t, p, text) => {
    const size = table.get(t * (c + 2) + p) || 0;
    if (!size) return [element('span', { class: 'zero' }, '0'), 0];
    const what = t === p ? `${names[t]}, correct: ${count(size)}` : `${names[t]} classified as ${names[p]}: ${count(size)}`;
    const button = element('button', { type: 'button', 'aria-pressed': 'false', 'aria-label': what, title: what, onclick: () => choose(t, p, button) },
      text || (size < 10000 ? String(size) : `${Math.round(size / 1000)}k`));
    buttons.push(button);
    return [button, size];
  };
  const off = [...table].filter(([key]) => Math.floor(key / (c + 2)) !== key % (c + 2)).sort((a, b) => b[1] - a[1]);
  if (c > 12) {
    $('confusion-note').textContent = 'The most frequent confusions. Select one to show its points.';
    $('matrix').className = 'pairs';
    $('matrix').append(...off.slice(0, 20).map(([key, size]) => {
      const [t, p] = [Math.floor(key / (c + 2)), key % (c + 2)];
      const [button] = cell(t, p, `${names[t]} → ${names[p]} (${count(size)})`);
      return button;
    }));
    enableArrowKeys($('matrix'), buttons);
    return;
  }
  const largest = off.length ? off[0][1] : 1;
  const head = element('tr', {}, element('th', { 'aria-label': 'true class' }), ...about.classes.map((name) => element('th', { scope: 'col', title: name }, name)));
  const body = element('tbody', {});
  for (let t = 0; t < c + 2; t++) {
    if (t === UNLABELED || (t > c && ![...table.keys()].some((key) => Math.floor(key / (c + 2)) === t))) continue;
    const row = element('tr', {}, element('th', { scope: 'row', title: names[t] }, names[t]));
    for (let p = 0; p < c; p++) {
      const [button, size] = cell(t, p);
      if (size) button.style.background = t === p ? `color-mix(in srgb, ${colorOf(t)} 28%, var(--panel))` : `color-mix(in srgb, var(--wrong) ${10 + Math.round((38 * size) / largest)}%, var(--panel))`;
      row.append(element('td', {}, button));
    }
    body.append(row);
  }
  $('matrix').append(element('table', {}, element('thead', {}, head), body));
  enableArrowKeys($('matrix'), buttons);
}

// Puts one button of a group in the Tab order. Arrow keys move the focus to the others; up and down
// stay in the column.
function enableArrowKeys(host, buttons) {
  const makeCurrent = (button) => {
    buttons.forEach((b) => (b.tabIndex = b === button ? 0 : -1));
    return button;
  };
  if (buttons.length) makeCurrent(buttons[0]);
  host.addEventListener('click', (e) => buttons.includes(e.target) && makeCurrent(e.target));
  host.addEventListener('keydown', (e) => {
    const at = buttons.indexOf(e.target);
    const directions = { ArrowLeft: [-1, false], ArrowRight: [1, false], ArrowUp: [-1, true], ArrowDown: [1, true] };
    if (at < 0 || !directions[e.key]) return;
    const [by, column] = directions[e.key];
    const reachable = (b) => !column || Math.abs(b.getBoundingClientRect().left - e.target.getBoundingClientRect().left) < 4;
    for (let next = at + by; next >= 0 && next < buttons.length; next += by) {
      if (!reachable(buttons[next])) continue;
      makeCurrent(buttons[next]).focus();
      break;
    }
    e.preventDefault();
  });
}

// ---- exemplars ----

function exemplarPicture(page, j, side) {
  if (about.kind !== 'image' || !page.model || !page.model.exemplar(j)) return null;
  const [low, high] = about.range;
  return picture(Array.from(page.model.exemplar(j), (v) => (v - low) / (high - low || 1)), about.image, side, `exemplar ${j} of ${names[about.exemplars[j][2]]}`);
}

function makeExemplars(page) {
  if (!about.exemplars.length || about.exemplars.length > 400) {
    $('exemplars-part').hidden = true;
    return;
  }
  const order = about.exemplars.map((_, j) => j).sort((a, b) => about.exemplars[a][2] - about.exemplars[b][2]);
  $('exemplars').append(...order.map((j) => {
    const k = about.exemplars[j][2];
    return element('button', { type: 'button', 'data-exemplar': j, 'aria-pressed': 'false', title: `exemplar ${j}, class ${names[k]}`, style: { borderColor: colorOf(k) }, onclick: () => chooseExemplar(page, j) },
      exemplarPicture(page, j, 38) || element('span', {}, about.exemplars.length > c ? `${names[k]}, ${j}` : names[k]));
  }));
  enableArrowKeys($('exemplars'), [...$('exemplars').children]);
  $('clear-exemplar').onclick = () => chooseExemplar(page, filters.exemplar);
}

async function chooseExemplar(page, j) {
  filters.exemplar = filters.exemplar === j ? -1 : j;
  for (const button of $('exemplars').children) button.setAttribute('aria-pressed', Number(button.dataset.exemplar) === filters.exemplar);
  $('clear-exemplar').hidden = filters.exemplar < 0;
  page.map.clear();
  page.map.ringExemplar(filters.exemplar);
  page.pinned = -1;
  $('selection').hidden = filters.exemplar < 0;
  $('card').hidden = true;
  const drawn = refresh(page);
  if (filters.exemplar >= 0) {
    page.open(0);
    showExemplar(page, j);
  }
  await drawn;
}

function showExemplar(page, j) {
  const k = about.exemplars[j][2];
  const members = page.visible;
  let [nearest, correct] = [0, 0];
  for (let i = 0; i < page.n; i++) {
    if (page.points.winner[i] !== j) continue;
    nearest++;
    correct += page.points.truth[i] === k;
  }
  const box = element('div', { class: 'card' }, element('div', { class: 'top' }, exemplarPicture(page, j, 84),
    element('div', {}, element('p', { class: 'verdict' }, `Exemplar ${j}, class ${names[k]}`),
      element('p', {}, `Nearest exemplar of ${count(nearest)} points` + (page.labeled && nearest ? `; ${percent(correct, nearest, 1)} belong to its class.` : '.')))),
    exemplarInputs(page, j), gallery(page, members));
  openSelection('Exemplar', box, () => chooseExemplar(page, j));
  announce(`Exemplar ${j}, class ${names[k]}, the nearest of ${count(nearest)} points`);
}

// The values of an exemplar: of a table all inputs, of words the 12 largest.
function exemplarInputs(page, j) {
  if (about.kind === 'image' || !page.model || !page.model.exemplar(j)) return null;
  const x = page.model.exemplar(j);
  if (about.kind === 'words') return sampleParts({ words: [...x.keys()].map((i) => [i, Number(x[i].toFixed(2))]).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]).slice(0, 12) }).below;
  return sampleParts({ fields: x }).below;
}

// ---- one point, many points ----

function facts(page, i, side) {
  const { points } = page;
  const truth = points.truth[i];
  const parts = sampleParts(page.samples(i), side);
  const wrong = page.isError(i);
  const verdict = truth === UNLABELED ? names[points.label[i]] : wrong ? `${names[truth]}, classified as ${names[points.label[i]]}` : names[truth];
  const list = element('dl', {});
  const add = (name, value) => list.append(element('dt', {}, name), element('dd', {}, value));
  add('row', String(points.row[i]) + (about.parts.length > 1 ? `, ${points.part[i] === 1 ? 'training' : 'held out'}` : ''));
  if (truth !== UNLABELED) add('label', names[truth]);
  add('predicted', names[points.label[i]]);
  add('probability', `${(points.proba[i] / 655.35).toFixed(1)} %`);
  add(about.exemplars.length ? 'exemplar' : 'nearest', String(points.winner[i]));
  const nearest = about.exemplars.length ? exemplarPicture(page, points.winner[i], 48) : null;
  return [element('div', { class: 'top' }, parts.picture ? element('div', { class: 'pictures' }, parts.picture, nearest ? element('figure', {}, nearest, element('figcaption', {}, 'nearest')) : null) : null,
    element('div', {}, element('p', { class: wrong ? 'verdict wrong' : 'verdict' }, element('i', { class: 'dot', style: { background: colorOf(page.group[i]), marginRight: '8px' } }), verdict), list)),
  parts.below || null];
}

const describe = (page, i) => {
  const truth = page.points.truth[i];
  return `Row ${page.points.row[i]}, ${truth === UNLABELED ? '' : `class ${names[truth]}, `}predicted ${names[page.points.label[i]]}, probability ${(page.points.proba[i] / 655.35).toFixed(0)} percent${page.isError(i) ? ', misclassified' : ''}`;
};

function hover(page, i, at) {
  const card = $('card');
  card.hidden = i < 0;
  if (i < 0) return;
  card.replaceChildren(...facts(page, i, 84).filter(Boolean));
  const [x, y] = at || page.map.screenOf(i);
  const [w, h] = [$('map').clientWidth, $('map').clientHeight];
  card.classList.toggle('upper', y > h / 2); // on a phone, away from the point
  card.style.left = `${x + 368 > w ? Math.max(8, x - 360) : x + 20}px`;
  card.style.top = `${Math.max(8, Math.min(h - card.offsetHeight - 8, y - 40))}px`;
}

function openSelection(title, box, close) {
  $('selection').hidden = false;
  $('selection').replaceChildren(element('div', { class: 'line' }, element('h2', {}, title), element('button', { type: 'button', class: 'link', onclick: close }, 'Clear')), box);
  if (window.innerWidth > 860) $('explore').scrollTop = 0;
}

function clearAll(page) {
  if (filters.exemplar >= 0) chooseExemplar(page, filters.exemplar);
  page.map.clear();
  page.pinned = -1;
  $('selection').hidden = true;
  $('card').hidden = true;
}

function pick(page, i) {
  page.pinned = i;
  page.map.pin(i);
  const box = element('div', { class: 'card' }, ...facts(page, i, 104).filter(Boolean));
  const sample = page.samples(i);
  const actions = element('div', { class: 'row' });
  if (sample && page.try && page.try.from)
    actions.append(element('button', { type: 'button', onclick: () => {
      page.open(1);
      page.try.from(sample);
    } }, 'Edit this sample'));
  if (about.exemplars.length) actions.append(element('button', { type: 'button', onclick: () => chooseExemplar(page, page.points.winner[i]) }, 'Show its exemplar'));
  box.append(actions);
  openSelection('Point', box, () => clearAll(page));
  if ($('tab-try').getAttribute('aria-selected') === 'true' && sample && page.try.from) page.try.from(sample);
  else page.open(0);
  announce(describe(page, i));
}

// Up to 48 of the points: pictures of images, row numbers of other samples.
function gallery(page, indices) {
  const image = about.kind === 'image' && about.details > 0;
  const first = [];
  for (const i of indices) {
    if (first.length === 48) break;
    if (!image || page.samples(i)) first.push(i);
  }
  const box = element('div', { class: image ? 'gallery' : 'gallery rows' }, ...first.map((i) => element('button', { type: 'button', title: describe(page, i), 'aria-label': describe(page, i),
    style: { borderColor: page.isError(i) ? 'var(--wrong)' : 'transparent' }, onclick: () => pick(page, i) }, image ? sampleParts(page.samples(i), 38).picture : String(page.points.row[i]))));
  enableArrowKeys(box, [...box.children]);
  return element('div', {}, element('p', { class: 'note' }, indices.length > first.length ? `The first ${first.length}:` : 'Points:'), box);
}

function select(page, indices) {
  if (!indices.length) {
    if (filters.exemplar < 0) clearAll(page);
    return;
  }
  const sizes = new Map();
  let errors = 0;
  for (const i of indices) {
    sizes.set(page.group[i], (sizes.get(page.group[i]) || 0) + 1);
    errors += page.isError(i);
  }
  const bars = [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([k, size]) => element('div', { class: 'bar' }, element('b', {}, names[k]),
    element('div', {}, element('i', { style: { width: `${(100 * size) / indices.length}%`, background: colorOf(k) } })), element('span', {}, count(size))));
  openSelection('Selection', element('div', { class: 'card' },
    element('p', { class: 'verdict', id: 'selected' }, `${count(indices.length)} points` + (page.labeled ? `, ${count(errors)} misclassified` : '')), ...bars,
    element('div', { class: 'row' }, element('button', { type: 'button', onclick: () => saveCsv(page, indices) }, 'Download as CSV')), gallery(page, indices)), () => clearAll(page));
  page.open(0);
  announce(`${count(indices.length)} points selected` + (page.labeled ? `, ${count(errors)} misclassified` : ''));
}

// ---- files ----

function saveCsv(page, indices) {
  const { points } = page;
  const [x0, y0, x1, y1] = about.box;
  const lines = ['row,part,label,predicted,probability,winner,y1,y2'];
  for (const i of indices) {
    const truth = points.truth[i] === UNLABELED ? '' : names[points.truth[i]];
    const part = ['test', 'train', ''][points.part[i]];
    lines.push([points.row[i], part, csv(truth), csv(names[points.label[i]]), (points.proba[i] / 65535).toFixed(5), points.winner[i],
      (x0 + ((x1 - x0) * points.x[i]) / 65535).toPrecision(7), (y0 + ((y1 - y0) * points.y[i]) / 65535).toPrecision(7)].join(','));
  }
  save(new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }), 'points.csv');
}

// ---- tools, keys, tabs ----

function makeTools(page) {
  const lasso = (on) => {
    $('lasso').setAttribute('aria-pressed', on);
    $('pan').setAttribute('aria-pressed', !on);
    page.map.setLasso(on);
  };
  page.lasso = lasso;
  $('pan').addEventListener('click', () => lasso(false));
  $('lasso').addEventListener('click', () => lasso(true));
  $('zoom-in').addEventListener('click', () => page.map.zoom(1.4));
  $('zoom-out').addEventListener('click', () => page.map.zoom(1 / 1.4));
  $('fit').addEventListener('click', () => page.map.fit());
  $('save-csv').addEventListener('click', () => saveCsv(page, page.visible));
  $('save-picture').addEventListener('click', async () => (await page.map.picture()).toBlob((blob) => save(blob, 'map.png')));
  $('theme').addEventListener('click', () => setTheme(page, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
}

function paintTheme(page) {
  const name = document.documentElement.dataset.theme;
  const colors = classColors(c, name);
  useColors(colors);
  page.map.setTheme(name, colors);
}

function setTheme(page, name) {
  document.documentElement.dataset.theme = name;
  paintTheme(page);
  repaintPictures();
  if (page.try.repaint) page.try.repaint();
  if (page.animation) page.animation.repaint();
}

function makeKeys(page) {
  const step = (by) => {
    if (!page.visible.length) return;
    const at = page.visible.indexOf(page.pinned);
    pick(page, page.visible[at < 0 ? 0 : (at + by + page.visible.length) % page.visible.length]);
  };
  const keys = {
    ArrowLeft: () => page.map.move(0.1, 0), ArrowRight: () => page.map.move(-0.1, 0), ArrowUp: () => page.map.move(0, -0.1), ArrowDown: () => page.map.move(0, 0.1),
    '+': () => page.map.zoom(1.25), '=': () => page.map.zoom(1.25), '-': () => page.map.zoom(0.8), 0: () => page.map.fit(),
    '.': () => step(1), ',': () => step(-1), l: () => page.lasso($('lasso').getAttribute('aria-pressed') !== 'true'),
  };
  $('points').addEventListener('keydown', (e) => {
    const act = keys[e.key] || keys[e.key.toLowerCase()];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    act();
    e.preventDefault();
  });
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') clearAll(page);
  });
}

function makeTabs(page) {
  const tabs = [['tab-explore', 'explore'], ['tab-try', 'try'], ['tab-training', 'training']].filter(([tab]) => !$(tab).hidden);
  const open = (which) => {
    tabs.forEach(([tab, panel], i) => {
      $(tab).setAttribute('aria-selected', i === which);
      $(tab).tabIndex = i === which ? 0 : -1;
      $(panel).hidden = i !== which;
    });
    document.body.dataset.tab = tabs[which][1];
    if (which === 1 && page.try.start) page.try.start();
    if (page.animation) page.animation.open(which === 2);
    $('visible-count').hidden = which === 2; // the animation shows other points
    $('card').hidden = true;
  };
  page.open = (which) => {
    if ($(tabs[which][0]).getAttribute('aria-selected') !== 'true') open(which);
  };
  tabs.forEach(([tab], i) => {
    $(tab).addEventListener('click', () => open(i));
    $(tab).addEventListener('keydown', (e) => {
      if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
      const next = (i + (e.key === 'ArrowRight' ? 1 : tabs.length - 1)) % tabs.length;
      open(next);
      $(tabs[next][0]).focus();
    });
  });
}

if (window.matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
start().catch((error) => {
  const place = $('wait') || $('visible-count');
  place.textContent = `The page could not be displayed: ${error.message}. Open it in a current browser with WebGL enabled.`;
  throw error;
});
