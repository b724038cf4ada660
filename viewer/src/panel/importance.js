// Bars of the importance of the columns: the increase of the error, or of the log loss if no column
// changes the error.
import { about, count } from '../data.js';
import { element } from '../card.js';

const $ = (id) => document.getElementById(id);
const LISTED = 10;

export function makeImportance() {
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
