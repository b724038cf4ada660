// The state of the page in the fragment of its address, so that a link opens the same view.
import { about } from './data.js';
import { filters } from './panel/filters.js';

const DELAY = 250; // ms after the last change
let timer = 0;
let written = '';

// The state as a text: only what differs from the start.
export function stateText(page) {
  const state = new URLSearchParams();
  const view = page.map.view();
  if (view) state.set('view', view.map((value) => Number(value.toPrecision(6))).join(','));
  if (page.coloring !== 'class') state.set('color', page.coloring);
  if (page.spread) state.set('spread', page.spread);
  if (!page.regions) state.set('regions', '0');
  if (!page.marks) state.set('exemplars', '0');
  if (!page.labels) state.set('names', '0');
  if (!page.pictures) state.set('pictures', '0');
  if (filters.hidden.size) {
    const visible = page.groups.filter((k) => !filters.hidden.has(k));
    if (visible.length < filters.hidden.size) state.set('show', visible.join(','));
    else state.set('hide', [...filters.hidden].join(','));
  }
  if (filters.part >= 0) state.set('part', filters.part);
  if (filters.correctness) state.set('correct', filters.correctness);
  if (filters.confidence < 100) state.set('below', filters.confidence);
  if (filters.cell) state.set('cell', filters.cell.join(','));
  if (filters.exemplar >= 0) state.set('exemplar', filters.exemplar);
  if (filters.search) state.set('find', filters.search);
  if (filters.numbers !== 'rows') state.set('numbers', filters.numbers);
  if (page.pinned >= 0) state.set('point', page.pinned);
  return state.toString();
}

export function saveState(page) {
  if (!page.ready) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    const text = stateText(page);
    if (text === written) return;
    written = text;
    try { // a page in a frame may not change its address
      history.replaceState(null, '', `#${text}`);
    } catch {
      written = '';
    }
  }, DELAY);
}

const numbers = (text) => (text || '').split(',').filter(Boolean).map(Number).filter(Number.isFinite);

// Sets the filters and the state of the page from a fragment. Returns the view, the color, what is shown,
// the point and the exemplar, which the page applies. Values that the page does not have are ignored.
export function readState(page, fragment) {
  const state = new URLSearchParams(fragment.replace(/^#/, ''));
  written = fragment.replace(/^#/, '');
  const integer = (key, min, max, other) => {
    const value = state.has(key) ? Number(state.get(key)) : NaN;
    return Number.isInteger(value) && value >= min && value <= max ? value : other;
  };
  const hidden = state.has('show') ? page.groups.filter((k) => !numbers(state.get('show')).includes(k)) : numbers(state.get('hide')).filter((k) => page.groups.includes(k));
  const cell = numbers(state.get('cell'));
  Object.assign(filters, {
    hidden: new Set(hidden), part: about.parts.length > 1 ? integer('part', 0, 1, -1) : -1, correctness: integer('correct', 0, 2, 0),
    confidence: about.classifies ? integer('below', 0, 100, 100) : 100, cell: page.labeled && cell.length === 2 && cell.every((k) => Number.isInteger(k) && k >= 0 && k <= about.classes.length + 1) ? cell : null,
    search: state.get('find') || '', numbers: state.get('numbers') === 'classes' ? 'classes' : 'rows',
  });
  const view = numbers(state.get('view'));
  const spread = Number(state.get('spread'));
  return {
    view: view.length === 3 && view[2] > 0 ? view : null,
    color: state.get('color') || 'class',
    spread: spread >= 0 && spread <= 1 ? spread : 0,
    regions: state.get('regions') !== '0',
    marks: state.get('exemplars') !== '0',
    labels: state.get('names') !== '0',
    pictures: state.get('pictures') !== '0',
    point: integer('point', 0, page.n - 1, -1),
    exemplar: integer('exemplar', 0, about.exemplars.length - 1, -1),
  };
}
