// The confusion matrix; with more than 12 classes, a list of the most frequent confusions.
import { UNLABELED, about, c, count, names } from '../data.js';
import { element } from '../card.js';
import { colorOf } from '../palette.js';
import { confusionTable, filters, refresh } from './filters.js';
import { enableArrowKeys } from './keys.js';

const $ = (id) => document.getElementById(id);
const LISTED = 20;

export function makeMatrix(page) {
  page.updateMatrix = () => {};
  if (!page.labeled) {
    $('confusions').hidden = true;
    return;
  }
  const { table, off } = confusionTable(page);
  const buttons = new Map(); // "true,predicted" to the button
  page.updateMatrix = () => {
    for (const [key, button] of buttons) button.setAttribute('aria-pressed', String(filters.cell) === key);
    $('clear-cell').hidden = !filters.cell;
  };
  const choose = (cell) => {
    filters.cell = String(filters.cell) === String(cell) ? null : cell;
    page.updateMatrix();
    refresh(page);
  };
  $('clear-cell').addEventListener('click', () => choose(filters.cell));
  const makeCell = (t, p, text) => {
    const size = table.get(t * (c + 2) + p) || 0;
    if (!size) return [element('span', { class: 'zero' }, '0'), 0];
    const what = t === p ? `${names[t]}, correct: ${count(size)}` : `${names[t]} classified as ${names[p]}: ${count(size)}`;
    const button = element('button', { type: 'button', 'aria-pressed': 'false', 'aria-label': what, title: what, onclick: () => choose([t, p]) },
      text || (size < 10000 ? String(size) : `${Math.round(size / 1000)}k`));
    buttons.set(String([t, p]), button);
    return [button, size];
  };
  if (c > 12) {
    $('confusion-note').textContent = off.length ? 'The most frequent confusions. Select one to show its points.' : 'No point is misclassified.';
    $('matrix').className = 'pairs';
    $('matrix').append(...off.slice(0, LISTED).map(([key, size]) => {
      const [t, p] = [Math.floor(key / (c + 2)), key % (c + 2)];
      return makeCell(t, p, `${names[t]} → ${names[p]} (${count(size)})`)[0];
    }));
    $('classes-part').before($('confusions')); // confusions first
  } else {
    const largest = off.length ? off[0][1] : 1;
    const head = element('tr', {}, element('th', { 'aria-label': 'true class' }), ...about.classes.map((name) => element('th', { scope: 'col', title: name }, name)));
    const body = element('tbody', {});
    for (let t = 0; t < c + 2; t++) {
      if (t === UNLABELED || (t > c && ![...table.keys()].some((key) => Math.floor(key / (c + 2)) === t))) continue;
      const row = element('tr', {}, element('th', { scope: 'row', title: names[t] }, names[t]));
      for (let p = 0; p < c; p++) {
        const [button, size] = makeCell(t, p);
        if (size) button.style.background = t === p ? `color-mix(in srgb, ${colorOf(t)} 28%, var(--panel))` : `color-mix(in srgb, var(--wrong) ${10 + Math.round((38 * size) / largest)}%, var(--panel))`;
        row.append(element('td', {}, button));
      }
      body.append(row);
    }
    $('matrix').append(element('table', {}, element('thead', {}, head), body));
  }
  enableArrowKeys($('matrix'), [...buttons.values()]);
}
