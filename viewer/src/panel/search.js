// The search: finds points by row, id, label, predicted class, cluster, column or word. Enter goes to
// the next match.
import { about, columns, count, inputName, names } from '../data.js';
import { OTHER, decodeRow, valueText } from '../columns.js';
import { filters, refresh } from './filters.js';
import { pick } from './selection.js';

const $ = (id) => document.getElementById(id);
const PAUSE = 120; // ms

const contains = (text) => (value) => value.toLowerCase().includes(text);

// A test of numbers: "3", "> 3", "<= 3"; null: not such a text.
function numberTest(text) {
  const match = /^(<=|>=|<|>|=)?\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.exec(text);
  if (!match) return null;
  const wanted = Number(match[2]);
  const tests = { '<': (v) => v < wanted, '>': (v) => v > wanted, '<=': (v) => v <= wanted, '>=': (v) => v >= wanted };
  return tests[match[1]] || ((v) => Math.abs(v - wanted) <= 1e-6 * Math.max(1, Math.abs(wanted)));
}

// The points whose sample has one of these words.
function byWords(page, isWanted) {
  const wanted = new Set(Array.from({ length: about.inputs }, (_, j) => j).filter((j) => isWanted(inputName(j).toLowerCase())));
  return wanted.size ? (i) => Boolean(page.samples(i)?.words.some(([j]) => wanted.has(j))) : null;
}

// The points with a text in a column of categories.
function byCategories(page, text) {
  const inputs = (columns || []).filter((column) => column.type === 'category' && !column.constant)
    .flatMap((column) => column.categories.flatMap((name, k) => (contains(text)(name) ? [column.first + k] : [])));
  return inputs.length && about.fields >= about.inputs ? (i) => Boolean(page.samples(i) && inputs.some((j) => page.samples(i).fields[j] === 1)) : null;
}

// The points with a text or a number in one column.
function byColumn(page, j, text) {
  const test = numberTest(text);
  if (!columns) return test && j < about.fields ? (i) => Boolean(page.samples(i)) && test(page.samples(i).fields[j]) : null;
  const column = columns[j];
  return (i) => {
    const sample = page.samples(i);
    if (!sample || sample.fields.length < about.inputs) return false;
    const value = decodeRow(columns, sample.fields)[j];
    if (value === null || value === OTHER) return false;
    return test && column.type === 'number' ? test(Number(valueText(column, value))) : contains(text)(valueText(column, value));
  };
}

// What a name before a colon finds: a function from the text after it to a test.
function fieldOf(page, name) {
  const { points } = page;
  const byGroup = (of, list) => (text) => {
    const wanted = new Set([...list.keys()].filter((k) => (/^\d+$/.test(text) ? list[k] === text : contains(text)(list[k]))));
    return (i) => wanted.has(of[i]);
  };
  if (name === 'row') return (text) => (i) => String(points.row[i]) === text;
  if ((name === 'label' || name === 'class') && page.hasLabels) return byGroup(points.truth, names);
  if (name === 'predicted' && points.label) return byGroup(points.label, names);
  if (name === 'cluster') return (text) => (/^\d+$/.test(text) ? (i) => page.clusters().of[i] === text - 1 : byGroup(page.clusters().of, page.clusters().names)(text));
  const kept = about.texts.findIndex((other) => other.toLowerCase() === name);
  if (kept >= 0) return (text) => (i) => contains(text)(page.texts[kept][i]);
  const list = columns ? columns.map((column) => column.name) : about.kind === 'fields' ? Array.from({ length: about.fields }, (_, j) => inputName(j)) : [];
  const j = list.findIndex((other) => other.toLowerCase() === name);
  return j >= 0 ? (text) => byColumn(page, j, text) : null;
}

// The points that match a text: {fits(i), row, missing}; null if the text is empty. missing: the
// message if nothing matches.
function matching(page, typed) {
  const text = typed.trim().toLowerCase();
  if (!text) return null;
  const isNumber = /^\d+$/.test(text);
  const hasText = (test) => (i) => page.texts.some((list) => test(list[i]));
  if (/^#\d+$/.test(text) || (isNumber && filters.numbers === 'rows')) {
    const row = Number(text.replace('#', ''));
    const isId = isNumber && page.texts.length ? hasText((id) => id.toLowerCase() === text) : () => false;
    return { row, fits: (i) => page.points.row[i] === row || isId(i), missing: `No match: the page has no row ${row}.` };
  }
  const named = /^([^:]+):\s*(.+)$/.exec(text);
  const field = named && fieldOf(page, named[1].trim());
  if (field) return { row: -1, fits: field(named[2]) || (() => false), missing: `No match: no point has “${named[2]}” as ${named[1].trim()}.` };
  const groups = new Set([...page.names.keys()].filter((k) => (isNumber ? page.names[k] === text : contains(text)(page.names[k]))));
  const tests = [(i) => groups.has(page.group[i])];
  if (!isNumber) {
    if (page.texts.length) tests.push(hasText(contains(text)));
    tests.push(about.kind === 'words' ? byWords(page, (word) => word.startsWith(text)) : about.kind === 'fields' ? byCategories(page, text) : null);
  }
  const used = tests.filter(Boolean);
  return { row: -1, fits: (i) => used.some((test) => test(i)), missing: page.kind === 'class' || page.kind === 'prediction' ? `No match: no class is named “${text}”.` : `No match: nothing here is named “${text}”.` };
}

export function makeSearch(page) {
  page.matching = (text) => matching(page, text);
  const what = ['Row number', page.kind === 'class' ? (about.classifies ? 'class' : 'label') : page.kind === 'prediction' ? 'class' : null, about.texts.length ? about.texts[0] : null, about.kind === 'words' ? 'word' : null];
  $('search').placeholder = what.filter(Boolean).join(', ').replace(/, ([^,]*)$/, ' or $1');
  const note = (at) => ($('search-note').textContent = `Match ${count(at + 1)} of ${count(page.visible.length)}.`);
  const goTo = (i) => {
    page.map.reveal(i);
    pick(page, i, true);
  };
  let timer = 0;
  const update = () => {
    clearTimeout(timer);
    timer = 0;
    refresh(page);
    const row = page.match && page.match.row >= 0 ? page.visible.find((i) => page.points.row[i] === page.match.row) : undefined;
    if (row !== undefined) pick(page, row, true);
  };
  $('search').addEventListener('input', (e) => {
    clearTimeout(timer);
    filters.search = e.target.value;
    timer = setTimeout(update, PAUSE);
  });
  $('search').addEventListener('keydown', (e) => {
    if (e.key !== 'Enter') return;
    e.preventDefault();
    if (timer) update();
    if (!page.match || !page.visible.length) return;
    const at = page.visible.indexOf(page.pinned);
    const by = e.shiftKey ? page.visible.length - 1 : 1;
    const next = at < 0 ? 0 : (at + by) % page.visible.length;
    goTo(page.visible[next]);
    note(next);
  });
}
