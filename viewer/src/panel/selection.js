// One point or many: the card at the pointer, the panel of the selection, the list of samples.
import { UNLABELED, about, count, names } from '../data.js';
import { announce, element, sampleParts } from '../card.js';
import { colorOf } from '../palette.js';
import { saveCsv } from '../files.js';
import { saveState } from '../fragment.js';
import { filters } from './filters.js';
import { chooseExemplar, exemplarPicture } from './exemplars.js';
import { enableArrowKeys } from './keys.js';

const $ = (id) => document.getElementById(id);
const NEAREST = 12;

const probability = (page, i, digits = 1) => `${(page.points.proba[i] / 655.35).toFixed(digits)} %`;
const swatch = (k) => element('i', { class: 'dot', style: { background: colorOf(k), marginRight: '8px' } });

function verdictOf(page, i) {
  const truth = page.points.truth[i];
  if (page.kind === 'none') return element('p', { class: 'verdict' }, `Row ${rowText(page, i)}`);
  const text = page.isError(i) ? `${names[truth]}, classified as ${names[page.points.label[i]]}` : page.names[page.group[i]];
  return element('p', { class: page.isError(i) ? 'verdict wrong' : 'verdict' }, swatch(page.group[i]), text);
}

function rowText(page, i) {
  return String(page.points.row[i]) + (about.parts.length > 1 ? `, ${page.points.part[i] === 1 ? 'training' : 'held out'}` : '');
}

// All that is known of a point, for the panel.
function facts(page, i, side) {
  const { points } = page;
  const parts = sampleParts(page.samples(i), side);
  const list = element('dl', {});
  const add = (name, value) => list.append(element('dt', {}, name), element('dd', {}, value));
  add('row', rowText(page, i));
  if (points.truth[i] !== UNLABELED) add('label', names[points.truth[i]]);
  if (about.classifies) {
    add('predicted', names[points.label[i]]);
    add('probability', probability(page, i));
    add(about.exemplars.length ? 'exemplar' : 'nearest', String(points.winner[i]));
  } else if (page.clusters().count > 1) {
    const { of, count: k } = page.clusters();
    add('cluster', of[i] < k ? String(of[i] + 1) : 'none');
  }
  page.texts.forEach((list, k) => add(about.texts[k], list[i]));
  const nearest = about.exemplars.length ? exemplarPicture(page, points.winner[i], 48) : null;
  return [element('div', { class: 'top' }, parts.picture ? element('div', { class: 'pictures' }, parts.picture, nearest ? element('figure', {}, nearest, element('figcaption', {}, 'nearest')) : null) : null,
    element('div', {}, verdictOf(page, i), list)), parts.below || null];
}

function noteOf(page, i) {
  const parts = [about.classifies ? probability(page, i) : null, page.kind === 'none' ? null : `row ${rowText(page, i)}`, ...page.texts.map((list) => list[i])].filter(Boolean);
  return parts.length ? element('p', { class: 'note' }, parts.join(', ')) : null;
}

// The card at the pointer: less, so that it covers little of the map.
function brief(page, i) {
  const parts = sampleParts(page.samples(i), 64, 6);
  return [element('div', { class: 'top' }, parts.picture || null,
    element('div', {}, verdictOf(page, i), noteOf(page, i))), parts.below || null];
}

function briefExemplar(page, j) {
  const k = about.exemplars[j][2];
  return [element('div', { class: 'top' }, exemplarPicture(page, j, 64),
    element('div', {}, element('p', { class: 'verdict' }, swatch(k), names[k]), element('p', { class: 'note' }, `exemplar ${j}`)))];
}

const describe = (page, i) => {
  const truth = page.points.truth[i];
  if (!about.classifies) return `Row ${page.points.row[i]}${page.kind === 'none' ? '' : `, ${page.kind === 'class' ? 'label' : 'cluster'} ${page.names[page.group[i]]}`}`;
  return `Row ${page.points.row[i]}, ${truth === UNLABELED ? '' : `class ${names[truth]}, `}predicted ${names[page.points.label[i]]}, probability ${(page.points.proba[i] / 655.35).toFixed(0)} percent${page.isError(i) ? ', misclassified' : ''}`;
};

// what: {point} or {exemplar}; null: nothing.
export function hover(page, what) {
  const card = $('card');
  const isPoint = what && what.point >= 0;
  const shows = what ? (isPoint ? `point ${what.point}` : `exemplar ${what.exemplar}`) : '';
  if (card.hidden === !what && card.dataset.shows === shows) return;
  card.hidden = !what;
  card.dataset.shows = shows;
  if (!what) return;
  card.replaceChildren(...(isPoint ? brief(page, what.point) : briefExemplar(page, what.exemplar)).filter(Boolean));
  const [x, y] = isPoint ? page.map.screenOf(what.point) : page.map.screenOfExemplar(what.exemplar);
  const [w, h] = [$('map').clientWidth, $('map').clientHeight];
  card.classList.toggle('upper', y > h / 2); // on a phone, away from the point
  card.style.left = `${x + card.offsetWidth + 26 > w ? Math.max(8, x - card.offsetWidth - 18) : x + 18}px`;
  card.style.top = `${Math.max(8, Math.min(h - card.offsetHeight - 8, y - 30))}px`;
}

export function openSelection(title, box, close) {
  $('selection').hidden = false;
  $('selection').replaceChildren(element('div', { class: 'line' }, element('h2', {}, title), element('button', { type: 'button', class: 'link', onclick: close }, 'Clear')), box);
  if (window.innerWidth > 860 && document.activeElement !== $('search')) $('explore').scrollTop = 0;
}

export function clearAll(page) {
  if (filters.exemplar >= 0) chooseExemplar(page, filters.exemplar);
  page.map.clear();
  page.pinned = -1;
  $('selection').hidden = true;
  $('card').hidden = true;
  saveState(page);
}

// Opens the panel of a point. found: by the search field, which keeps the focus and its tab.
export function pick(page, i, found = false) {
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
  if (!found && $('tab-try').getAttribute('aria-selected') === 'true' && sample && page.try.from) page.try.from(sample);
  else page.open(0);
  announce(describe(page, i));
  saveState(page);
}

// Up to 48 of the points: pictures of images, row numbers of other samples.
export function gallery(page, indices, title = 'Points:') {
  const image = about.kind === 'image' && about.details > 0;
  const first = [];
  for (const i of indices) {
    if (first.length === 48) break;
    if (!image || page.samples(i)) first.push(i);
  }
  const box = element('div', { class: image ? 'gallery' : 'gallery rows' }, ...first.map((i) => element('button', { type: 'button', title: describe(page, i), 'aria-label': describe(page, i),
    style: { borderColor: page.isError(i) ? 'var(--wrong)' : 'transparent' }, onclick: () => pick(page, i) }, image ? sampleParts(page.samples(i), 38).picture : String(page.points.row[i]))));
  enableArrowKeys(box, [...box.children]);
  return element('div', {}, element('p', { class: 'note' }, indices.length > first.length ? `The first ${first.length}:` : title), box);
}

// The points nearest to a position of the model: {first, list}, an element with their pictures or rows.
export function nearestPoints(page, y) {
  const indices = page.map.nearest(y, NEAREST);
  return { first: indices.length ? indices[0] : -1, list: gallery(page, indices, 'The nearest points:') };
}

export function select(page, indices) {
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
  const long = page.kind === 'cluster' ? 'bar column' : 'bar';
  const bars = page.kind === 'none' ? [] : [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([k, size]) => element('div', { class: long }, element('b', { title: page.names[k] }, page.names[k]),
    element('div', {}, element('i', { style: { width: `${(100 * size) / indices.length}%`, background: colorOf(k) } })), element('span', {}, count(size))));
  const text = `${count(indices.length)} point${indices.length > 1 ? 's' : ''}`;
  openSelection('Selection', element('div', { class: 'card' },
    element('p', { class: 'verdict', id: 'selected' }, text + (page.labeled ? `, ${count(errors)} misclassified` : '')), ...bars,
    element('div', { class: 'row' }, element('button', { type: 'button', onclick: () => saveCsv(page, indices) }, 'Download as CSV')), gallery(page, indices)), () => clearAll(page));
  page.open(0);
  announce(`${text} selected` + (page.labeled ? `, ${count(errors)} misclassified` : ''));
}
