// The exemplars: their list, and the panel of one of them.
import { about, c, count, names, percent } from '../data.js';
import { announce, element, picture, sampleParts } from '../card.js';
import { colorOf } from '../palette.js';
import { filters, refresh } from './filters.js';
import { enableArrowKeys } from './keys.js';
import { gallery, openSelection } from './selection.js';

const $ = (id) => document.getElementById(id);
const LISTED = 400;

export function exemplarPicture(page, j, side) {
  if (about.kind !== 'image' || !page.model || !page.model.exemplar(j)) return null;
  const [low, high] = about.range;
  return picture(Array.from(page.model.exemplar(j), (v) => (v - low) / (high - low || 1)), about.image, side, `exemplar ${j} of ${names[about.exemplars[j][2]]}`);
}

export function makeExemplars(page) {
  if (!about.exemplars.length || about.exemplars.length > LISTED) {
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

// Shows the points of an exemplar; the same exemplar again: all points.
export function chooseExemplar(page, j) {
  filters.exemplar = filters.exemplar === j ? -1 : j;
  for (const button of $('exemplars').children) button.setAttribute('aria-pressed', Number(button.dataset.exemplar) === filters.exemplar);
  $('clear-exemplar').hidden = filters.exemplar < 0;
  page.map.clear();
  page.map.ringExemplar(filters.exemplar);
  page.pinned = -1;
  $('selection').hidden = filters.exemplar < 0;
  $('card').hidden = true;
  refresh(page);
  if (filters.exemplar < 0) return;
  page.open(0);
  showExemplar(page, j);
}

function showExemplar(page, j) {
  const k = about.exemplars[j][2];
  let [nearest, correct] = [0, 0];
  for (let i = 0; i < page.n; i++) {
    if (page.points.winner[i] !== j) continue;
    nearest++;
    correct += page.points.truth[i] === k;
  }
  const box = element('div', { class: 'card' }, element('div', { class: 'top' }, exemplarPicture(page, j, 84),
    element('div', {}, element('p', { class: 'verdict' }, `Exemplar ${j}, class ${names[k]}`),
      element('p', {}, `Nearest exemplar of ${count(nearest)} points` + (page.labeled && nearest ? `; ${percent(correct, nearest, 1)} belong to its class.` : '.')))),
    exemplarInputs(page, j), gallery(page, page.visible));
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
