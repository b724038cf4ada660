// The list of the groups, which is the legend, and smaller legends for other tabs and colors.
import { about, c, count, percent } from '../data.js';
import { element } from '../card.js';
import { colorOf } from '../palette.js';
import { filters, refresh } from './filters.js';

const $ = (id) => document.getElementById(id);
const MANY = 12; // more classes can be sorted and filtered

const dot = (color) => element('i', { style: { background: color } });

const TITLES = { class: 'Classes', prediction: 'Classes', cluster: 'Clusters', none: 'Points' };

export function makeLegend(page) {
  const { names, kind } = page;
  const sizes = new Int32Array(names.length);
  const wrong = new Int32Array(names.length);
  for (let i = 0; i < page.n; i++) {
    sizes[page.group[i]]++;
    wrong[page.group[i]] += page.isError(i);
  }
  const present = [...sizes.keys()].filter((k) => sizes[k]);
  page.groups = present;
  $('classes-part').hidden = kind === 'none';
  $('classes-heading').textContent = kind === 'class' && !page.labeled ? 'Labels' : TITLES[kind];
  const what = kind === 'cluster' ? 'cluster' : 'class';
  $('classes-note').hidden = kind !== 'cluster';
  $('classes-note').textContent = 'Dense places of the map' + (about.kind === 'image' || !about.details ? '.' : `, named by the ${about.kind === 'words' ? 'words' : 'columns'} whose mean differs most from that of all points.`);
  const update = () => {
    for (const [k, button] of buttons) button.setAttribute('aria-pressed', !filters.hidden.has(k));
    refresh(page);
  };
  const toggle = (k, alone) => {
    if (alone) filters.hidden = new Set(present.filter((j) => j !== k));
    else if (!filters.hidden.delete(k)) filters.hidden.add(k);
    update();
  };
  const buttons = new Map(present.map((k) => [k, element('button', { type: 'button', class: 'class', 'data-class': k, 'aria-pressed': 'true', title: `${kind === 'cluster' && page.clusters().described[k] ? `${page.clusters().described[k]}. ` : ''}Click to show or hide this ${what}; double-click to show only this ${what}`,
    onclick: (e) => toggle(k, e.altKey), ondblclick: () => toggle(k, true) },
  dot(colorOf(k)), element('b', { title: names[k] }, names[k]), element('span', {}, count(sizes[k])),
  page.labeled ? element('span', { class: 'rate', title: `${count(wrong[k])} misclassified` }, k < c && wrong[k] ? percent(wrong[k], sizes[k], 1) : '') : null)]));

  const orders = {
    data: (a, b) => a - b,
    name: (a, b) => names[a].localeCompare(names[b], 'en', { numeric: true }),
    size: (a, b) => sizes[b] - sizes[a] || a - b,
    error: (a, b) => wrong[b] / sizes[b] - wrong[a] / sizes[a] || sizes[b] - sizes[a],
  };
  const sort = () => {
    const text = $('class-filter').value.trim().toLowerCase();
    const listed = [...present].sort(orders[$('class-order').value]).filter((k) => names[k].toLowerCase().includes(text));
    $('classes').replaceChildren(...listed.map((k) => buttons.get(k)), ...(listed.length ? [] : [element('p', { class: 'note' }, `No ${what} has this name.`)]));
  };
  $('class-tools').hidden = present.length <= MANY;
  $('class-order').append(...[['error', 'highest error first'], ['data', kind === 'cluster' ? 'by number' : 'order of the data'], ['name', 'by name'], ['size', 'most points first']].filter(([key]) => key !== 'error' || page.labeled).map(([value, text]) => element('option', { value }, text)));
  $('class-order').value = present.length > MANY && page.labeled ? 'error' : 'data';
  $('class-order').addEventListener('change', sort);
  $('class-filter').addEventListener('input', sort);
  $('classes').classList.toggle('many', present.length > MANY);
  sort();
  $('all-classes').addEventListener('click', () => {
    filters.hidden.clear();
    update();
  });
  $('no-classes').addEventListener('click', () => {
    filters.hidden = new Set(present);
    update();
  });
  page.updateLegend = () => buttons.forEach((button, k) => button.setAttribute('aria-pressed', !filters.hidden.has(k)));
}

// The groups as a compact line, for tabs without the list.
export function classChips(page) {
  const list = page.kind === 'none' ? [] : page.names.slice(0, page.colors);
  return element('div', { class: 'chips', role: 'list', 'aria-label': page.kind === 'cluster' ? 'Clusters' : 'Classes' }, ...list.map((name, k) => element('span', { role: 'listitem', title: name }, dot(colorOf(k)), name)));
}

// The legend of a coloring (coloring.js): a scale, or a list of values.
export function coloringLegend({ scale, list, note }) {
  const parts = [];
  if (scale) parts.push(element('div', { class: 'scale' }, element('span', {}, scale.low), element('i', { style: { background: `linear-gradient(to right, ${scale.colors.join(', ')})` } }), element('span', {}, scale.high)));
  if (list) parts.push(element('div', { class: 'chips', role: 'list' }, ...list.map(([name, color]) => element('span', { role: 'listitem', title: name }, dot(color), name))));
  if (note) parts.push(element('p', { class: 'note' }, note));
  return parts;
}
