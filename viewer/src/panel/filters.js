// The filters, and which points they and the search show.
import { about, c, count } from '../data.js';
import { element } from '../card.js';
import { saveState } from '../fragment.js';

const $ = (id) => document.getElementById(id);

// part: -1 all; correctness: 0 all, 1 correct, 2 misclassified; confidence: highest probability of
// the visible points, in percent; cell: [true, predicted]; numbers: whether a number in the search field is a row
// or a class.
export const filters = { hidden: new Set(), part: -1, correctness: 0, confidence: 100, cell: null, exemplar: -1, search: '', numbers: 'rows' };
const hasNumberNames = about.classes.some((name) => /^\d+$/.test(name));

function passes(page, i) {
  const { points } = page;
  if (filters.hidden.has(page.group[i])) return false;
  if (filters.part >= 0 && points.part[i] !== filters.part) return false;
  if (filters.correctness && page.isError(i) !== (filters.correctness === 2)) return false;
  if (filters.confidence < 100 && points.proba[i] > filters.confidence * 655.35) return false;
  if (filters.cell && (points.truth[i] !== filters.cell[0] || points.label[i] !== filters.cell[1])) return false;
  return filters.exemplar < 0 || points.winner[i] === filters.exemplar;
}

// Shows the points that pass the filters. If the search field has a text, those that match are visible,
// and the others are faded.
export function refresh(page) {
  const match = page.matching(filters.search);
  const mask = new Uint8Array(page.n);
  const visible = new Uint32Array(page.n);
  let [total, errors, matches] = [0, 0, 0];
  for (let i = 0; i < page.n; i++) {
    const fits = !match || match.fits(i);
    matches += fits;
    if (!passes(page, i)) continue;
    mask[i] = fits ? 1 : 2;
    if (!fits) continue;
    visible[total++] = i;
    errors += page.isError(i);
  }
  page.visible = visible.subarray(0, total);
  page.match = match;
  $('visible-count').textContent = `${count(total)} of ${count(page.n)} points` + (page.labeled && total ? `, ${count(errors)} misclassified` : '');
  $('search-note').textContent = !match ? '' : total ? `${count(total)} ${total > 1 ? 'matches. Enter shows the next one.' : 'match.'}` : matches ? 'The matches are hidden by the other filters.' : match.missing;
  page.map.show(mask, total);
  saveState(page);
}

function segments(host, choices, pressed, onChoose) {
  const buttons = choices.map(([name, value]) => element('button', { type: 'button', 'aria-pressed': String(value === pressed), onclick: () => {
    set(value);
    onChoose(value);
  } }, name));
  const set = (value) => buttons.forEach((b, i) => b.setAttribute('aria-pressed', choices[i][1] === value));
  host.append(...buttons);
  return set;
}

export function makeFilters(page) {
  const change = (key) => (value) => {
    filters[key] = value;
    refresh(page);
  };
  const setters = [];
  const add = (id, key, wanted, choices) => {
    $(id).hidden = !wanted;
    if (!wanted) return;
    const set = segments($(id), choices, filters[key], change(key));
    setters.push(() => set(filters[key]));
  };
  add('parts', 'part', about.parts.length > 1, [['All', -1], ['Training', 1], ['Held out', 0]]);
  add('correctness', 'correctness', page.labeled, [['All', 0], ['Correct', 1], ['Errors', 2]]);
  add('numbers', 'numbers', hasNumberNames, [['Numbers are rows', 'rows'], ['Numbers are classes', 'classes']]);
  $('confidence-part').hidden = !about.classifies;
  $('filters').hidden = !about.classifies && about.parts.length < 2;
  const showConfidence = () => ($('confidence-value').textContent = `${filters.confidence} %`);
  $('confidence').addEventListener('input', (e) => {
    change('confidence')(Number(e.target.value));
    showConfidence();
  });
  page.showFilters = () => { // after the filters were read from the address
    setters.forEach((set) => set());
    $('confidence').value = filters.confidence;
    $('search').value = filters.search;
    showConfidence();
  };
}

// The confusions of the visible data: {table: true * (c + 2) + predicted to count, off: errors sorted}
export function confusionTable(page) {
  const table = new Map();
  for (let i = 0; i < page.n; i++) {
    const key = page.points.truth[i] * (c + 2) + page.points.label[i];
    if (page.points.truth[i] !== c) table.set(key, (table.get(key) || 0) + 1);
  }
  const off = [...table].filter(([key]) => Math.floor(key / (c + 2)) !== key % (c + 2)).sort((a, b) => b[1] - a[1]);
  return { table, off };
}
