// Colors of the points: by class, prediction, probability, error, exemplar, cluster, density or a column.
import { about, columns, count, inputName, names, percent } from '../data.js';
import { OTHER, decodeRow, valueText } from '../columns.js';
import { element } from '../card.js';
import { classColors } from '../palette.js';
import { coloringLegend } from './legend.js';
import { saveState } from '../fragment.js';

const $ = (id) => document.getElementById(id);
const LEVELS = 64;
const MAX_COLUMNS = 2000;
const MAX_WORDS = 400;
const LISTED = 12;
const GRAY = { light: '#8b9098', dark: '#6b727c' };
// From low to high; every color has a contrast of at least 3 to the background.
const RAMP = {
  light: ['#a97f00', '#3f8f58', '#1f7f96', '#2b57a8', '#3a1a6b'],
  dark: ['#6a6fe0', '#3f93d0', '#35b5a0', '#9fce5a', '#fff08a'],
};
const ERROR = { light: ['#8b9098', '#c02512'], dark: ['#747b86', '#ff7a5c'] };

function ramp(theme) {
  const stops = RAMP[theme].map((color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)));
  return Array.from({ length: LEVELS }, (_, k) => {
    const at = (k / (LEVELS - 1)) * (stops.length - 1);
    const [from, share] = [Math.min(stops.length - 2, Math.floor(at)), at - Math.min(stops.length - 2, Math.floor(at))];
    return '#' + [0, 1, 2].map((d) => Math.round(stops[from][d] * (1 - share) + stops[from + 1][d] * share).toString(16).padStart(2, '0')).join('');
  });
}

const numberText = (value) => (Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString());

// Numbers as levels of the ramp; NaN: gray. text: how to write the ends of the scale.
function byNumber(values, theme, text = numberText, range = null) {
  let [low, high] = range || [Infinity, -Infinity];
  if (!range) for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const color = Uint16Array.from(values, (value) => (Number.isNaN(value) ? LEVELS : Math.round(((LEVELS - 1) * (value - low)) / (high - low || 1))));
  const missing = color.reduce((sum, k) => sum + (k === LEVELS), 0);
  const note = missing ? `Gray: ${count(missing)} points without a stored value.` : '';
  return { color, palette: [...ramp(theme), GRAY[theme]], scale: low <= high ? { low: text(low, false), high: text(high, true), colors: ramp(theme) } : null, note };
}

// Texts as classes of their own; null: gray.
function byText(values, theme) {
  const sizes = new Map();
  for (const value of values) if (value !== null) sizes.set(value, (sizes.get(value) || 0) + 1);
  const kinds = [...sizes].sort((a, b) => b[1] - a[1]).map(([value]) => value);
  const palette = [...classColors(kinds.length, theme).slice(0, kinds.length), GRAY[theme]];
  const at = new Map(kinds.map((kind, k) => [kind, k]));
  const color = Uint16Array.from(values, (value) => (value === null ? kinds.length : at.get(value)));
  return { color, palette, list: kinds.slice(0, LISTED).map((kind, k) => [kind, palette[k]]), note: kinds.length > LISTED ? `and ${count(kinds.length - LISTED)} more values` : '' };
}

function byColumn(page, j, theme) {
  const all = Array.from({ length: page.n }, (_, i) => page.samples(i));
  if (about.kind === 'words') return byNumber(Float64Array.from(all, (s) => (s ? (s.words.find(([word]) => word === j) || [0, 0])[1] : NaN)), theme);
  if (!columns) return byNumber(Float64Array.from(all, (s) => (s ? s.fields[j] : NaN)), theme);
  const column = columns[j];
  const values = all.map((s) => (s ? decodeRow(columns, s.fields)[j] : null));
  if (column.type === 'category' || column.type === 'boolean') return byText(values.map((value) => (value === null ? null : valueText(column, value))), theme);
  return byNumber(Float64Array.from(values, (value) => (value === null || value === OTHER ? NaN : value)), theme, (value) => valueText(column, value));
}

// The columns that can be chosen: [number, name]. Of words the most frequent ones.
function columnChoices(page) {
  if (about.kind === 'image' || !about.details) return [];
  if (columns) return columns.flatMap((column, j) => (column.inputs && about.fields >= about.inputs ? [[j, column.name]] : []));
  if (about.kind !== 'words') return Array.from({ length: Math.min(about.fields, about.inputs, MAX_COLUMNS) }, (_, j) => [j, inputName(j)]);
  const seen = new Map();
  for (let i = 0; i < page.n; i++) for (const [j] of page.samples(i)?.words || []) seen.set(j, (seen.get(j) || 0) + 1);
  return [...seen].sort((a, b) => b[1] - a[1]).slice(0, MAX_WORDS).map(([j]) => [j, inputName(j)]);
}

function coloringOf(page, key, theme) {
  const { points, group } = page;
  const colors = classColors(page.colors, theme);
  if (key === 'prediction') return { color: points.label, palette: colors };
  if (key === 'probability') return byNumber(Float64Array.from(points.proba, (p) => p / 65535), theme, (p) => percent(p, 1, 0));
  if (key === 'error') {
    const wrong = Uint16Array.from(points.label, (_, i) => Number(page.isError(i)));
    return { color: wrong, palette: ERROR[theme], list: [['correct', ERROR[theme][0]], ['misclassified', ERROR[theme][1]]] };
  }
  if (key === 'exemplar') {
    const r = Math.max(1, about.exemplars.length);
    const palette = classColors(r, theme).slice(0, r);
    const list = about.exemplars.slice(0, LISTED).map(([, , k], j) => [`${j}, ${names[k]}`, palette[j]]);
    return { color: points.winner, palette, list, note: r > LISTED ? `and ${count(r - LISTED)} more exemplars` : '' };
  }
  if (key === 'cluster') {
    const { of, count: k, names: list } = page.clusters();
    const palette = classColors(k, theme).slice(0, k + 1);
    return { color: of, palette, list: list.slice(0, Math.min(k, LISTED)).map((name, j) => [page.hasLabels ? `${j + 1}: ${name}` : name, palette[j]]), note: k > LISTED ? `and ${count(k - LISTED)} more clusters` : '' };
  }
  if (key === 'density') {
    const { density } = page.clusters();
    return byNumber(Float64Array.from(density, (d) => Math.log1p(d)), theme, (d, isHigh) => (isHigh ? 'dense' : 'sparse'));
  }
  const column = /^column (\d+)$/.exec(key);
  return column ? byColumn(page, Number(column[1]), theme) : { color: group, palette: colors };
}

// The names on the map: of the classes, or of the clusters if they have the colors or the model has no
// classes; those of clusters are the classes of their points, if there are labels.
function namesOf(page) {
  if (page.coloring !== 'cluster' && (about.classifies || page.kind === 'none')) return { group: page.group, names: page.names, skip: page.kind === 'none' ? 0 : page.names.length, winner: about.exemplars.length ? page.points.winner : null };
  const { of, count: k, names: list } = page.clusters();
  if (k < 2 && page.kind === 'class') return { group: page.group, names: page.names, skip: page.names.length, winner: null };
  return { group: of, names: list, skip: k, winner: null };
}

export function makeColoring(page) {
  const own = { class: about.classifies ? 'class' : 'label', prediction: 'predicted class', cluster: 'cluster', none: 'one color' }[page.kind];
  const choices = [['class', own], ...(page.labeled ? [['prediction', 'predicted class'], ['error', 'error']] : []), ...(about.classifies ? [['probability', 'probability of the prediction']] : []),
    ...(about.exemplars.length ? [['exemplar', 'nearest exemplar']] : []), ...(page.kind === 'cluster' ? [] : [['cluster', 'cluster of the map']]), ['density', 'density']];
  const option = ([value, text]) => element('option', { value }, text);
  const some = columnChoices(page).map(([j, name]) => [`column ${j}`, name]);
  $('color').append(...choices.map(option), ...(some.length ? [element('optgroup', { label: about.kind === 'words' ? 'Words' : 'Columns' }, ...some.map(option))] : []));
  const known = new Set([...choices, ...some].map(([value]) => value));
  page.coloring = 'class';
  page.paintColors = () => {
    const coloring = coloringOf(page, page.coloring, document.documentElement.dataset.theme);
    page.map.setColoring(coloring);
    page.map.setNames(namesOf(page), { names: page.names, skip: page.kind === 'none' ? 0 : page.kind === 'cluster' ? page.colors : page.names.length });
    page.colorLegend = coloring;
    $('color-legend').replaceChildren(...coloringLegend(coloring));
  };
  page.colorBy = (key) => {
    page.coloring = known.has(key) ? key : 'class';
    $('color').value = page.coloring;
    page.paintColors();
    saveState(page);
  };
  $('color').addEventListener('change', (e) => page.colorBy(e.target.value));
}
