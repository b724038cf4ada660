// The page: reads the data and connects the map with the panels.
import { UNLABELED, about, block, c, count, percent, readPoints, readSamples, readTexts } from './data.js';
import { element } from './card.js';
import { createMap } from './map/map.js';
import { createAnimation } from './panel/animation.js';
import { makeColoring } from './panel/coloring.js';
import { chooseExemplar, makeExemplars } from './panel/exemplars.js';
import { filters, makeFilters, refresh } from './panel/filters.js';
import { makeImportance } from './panel/importance.js';
import { makeLegend } from './panel/legend.js';
import { makeMatrix } from './panel/matrix.js';
import { makeSearch } from './panel/search.js';
import { hover, nearestPoints, pick, select } from './panel/selection.js';
import { makeDisplay, makeKeys, makeTabs, makeTools, paintTheme } from './panel/tools.js';
import { createTry } from './panel/try.js';
import { latency, sizeText, timeText } from './cost.js';
import { readState, saveState, stateText } from './fragment.js';
import { makeGroups } from './groups.js';
import { readModel } from './model.js';

const $ = (id) => document.getElementById(id);

const nextPaint = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

// What the page needs, or null: a browser without it gets a message.
function missing() {
  if (typeof DecompressionStream === 'undefined') return 'DecompressionStream';
  if (typeof OffscreenCanvas === 'undefined' || !document.createElement('canvas').getContext('2d')) return 'canvas drawing';
  return null;
}

async function start() {
  showHeader();
  const needed = missing();
  if (needed) {
    $('wait').textContent = `This browser has no ${needed}, which the page needs. Open it in a browser of 2023 or later.`;
    return;
  }
  await nextPaint(); // the header appears before the points are decoded
  const points = await readPoints();
  const n = points.x.length;
  const isError = (i) => about.classifies && points.truth[i] !== UNLABELED && points.truth[i] !== points.label[i];
  const page = { points, n, ...makeGroups(points), isError, samples: () => null, texts: [], model: null, visible: null, pinned: -1, ready: false };

  const whenReady = (act) => (...what) => page.ready && act(page, ...what);
  page.map = createMap({
    canvas: $('points'), overlay: $('overlay'), points, isError, covered: coveredHeights, obstacles,
    onHover: whenReady(hover),
    onPick: whenReady(pick),
    onSelect: whenReady(select),
    onExemplar: whenReady(chooseExemplar),
    onMove: () => saveState(page),
    onEmpty: (is) => ($('nowhere').hidden = !is),
  });
  page.samples = await readSamples(n);
  page.texts = await readTexts(n);
  page.readNames(page.samples);
  makeColoring(page);
  paintTheme(page);
  page.map.show(new Uint8Array(n).fill(1), n);
  page.map.paint();
  $('wait').remove();
  await nextPaint();

  const bytes = about.runs ? await block('model') : null;
  page.model = bytes && readModel(bytes.buffer);
  page.map.start(page.samples, page.model);
  makeLegend(page);
  makeFilters(page);
  makeSearch(page);
  makeMatrix(page);
  makeImportance();
  makeExemplars(page);
  makeTools(page);
  makeDisplay(page);
  makeKeys(page);
  page.try = createTry($('try'), { page, model: page.model, samples: page.samples, n, nearest: (y) => nearestPoints(page, y), onPlace: (place) => page.map.tryAt(place) });
  if (about.history.length) {
    $('tab-training').hidden = false;
    page.animation = await createAnimation($('training'), page);
  }
  makeTabs(page);
  restore(page);
  window.addEventListener('hashchange', () => location.hash.slice(1) !== stateText(page) && restore(page));
  page.ready = true;
  // Used by the tests; handy in the console.
  window.enhope = { about, page, classify: (x) => page.model.classify(x, about.neighbours), embed: (x) => page.model.embed(x), draw: page.try.render };
  document.documentElement.dataset.ready = 'yes';
  await nextPaint();
  if (page.model) $('latency').textContent = timeText(latency(page.model, about.classifies, about.neighbours));
}

// Shows the state that the address has.
function restore(page) {
  const state = readState(page, location.hash);
  page.showFilters();
  page.updateLegend();
  page.updateMatrix();
  page.display({ spread: state.spread, regions: state.regions, marks: state.marks, pictures: state.pictures, labels: state.labels });
  page.colorBy(state.color);
  refresh(page);
  if (state.exemplar !== filters.exemplar) chooseExemplar(page, state.exemplar >= 0 ? state.exemplar : filters.exemplar);
  if (state.point >= 0) pick(page, state.point, true);
  page.map.setView(state.view);
}

// The name of the error of a part. Data that trained the model has a training error, whatever part
// it is called.
function errorName(part) {
  if (part.trained >= 0.95 || part.name === 'training') return 'training error';
  if (part.trained > 0) return `error, ${percent(part.trained, 1, 0)} of the rows trained the model`;
  return part.name === 'held out' ? 'held-out error' : 'error';
}

function showHeader() {
  const data = about.data.replace(/^synthetic:(\w+).*/, 'synthetic $1');
  const title = about.title || `${data}, embedded by ${about.method}`;
  document.title = title;
  document.documentElement.style.setProperty('--name', `${Math.min(12, Math.max(4, ...about.classes.map((name) => name.length)))}ch`);
  $('title').textContent = title;
  const partName = (p) => (p.trained >= 0.95 ? 'training ' : p.name === 'all' ? '' : `${p.name.replace(' ', '-')} `);
  const parts = about.parts.map((p) => `${count(p.n)} ${partName(p)}points`).join(', ');
  $('subtitle').textContent = `${about.title ? data + ', ' + about.method + ', ' : ''}${parts}${c ? `, ${c} ${about.classifies ? 'classes' : 'labels'}` : ''}` + (about.exemplars.length ? `, ${about.exemplars.length} exemplars` : '');
  for (const part of about.parts) {
    if (!part.labelled || !about.classifies) continue;
    $('figures').append(element('div', { class: 'figure' }, element('b', {}, percent(part.errors, part.labelled)),
      element('span', {}, `${errorName(part)}, ${count(part.errors)} of ${count(part.labelled)}`)));
  }
  $('figures').append(element('div', { class: 'figure', id: 'model-cost' }, element('b', {}, sizeText(about.bytes)),
    element('span', { title: `Size of the model file; time to ${about.classifies ? 'classify' : 'place'} a sample in this browser` }, 'model', ...(about.runs ? [', ', element('span', { id: 'latency' }, '…'), ' a sample'] : []))));
  const notes = [];
  if (about.n < about.total) notes.push(`Showing ${count(about.n)} of ${count(about.total)} points, ${c ? 'the same share of each class' : 'evenly along the data'}.${about.classifies ? ' The errors above cover all points.' : ''}`);
  if (about.classifies && about.parts.some((part) => part.trained && part.name !== 'training')) notes.push('Rows of this data trained the model, so its error on new data is higher.');
  const summary = [];
  if (about.details < about.n) summary.push(about.details ? `Samples are included for ${count(about.details)} points${about.classifies ? ', misclassified points first' : ''}.` : 'The page includes no samples.');
  if (about.outputs > 2) notes.push(`The embedding has ${about.outputs} dimensions; the map shows the first two.`);
  summary.push(`Created by enhope ${about.version} from ${about.model}.`);
  $('summary').textContent = summary.join(' ');
  $('notes').textContent = notes.join(' ');
  $('notes').hidden = !notes.length;
}

// Heights in pixels that the tools cover at the top of the map and the status text at the bottom. On
// a wide map the tools are in a corner, which little more than the margin of the map keeps free.
function coveredHeights() {
  const narrow = $('map').clientWidth < 600;
  const hasText = narrow || !$('notes').hidden || !$('propose').hidden;
  return [narrow ? document.querySelector('.tools').offsetHeight + 16 : 24, hasText ? document.querySelector('.status').offsetHeight + 16 : 0];
}

// The boxes of the tools and the status texts, which cover the map.
function obstacles() {
  const { left, top } = $('map').getBoundingClientRect();
  return [...document.querySelectorAll('.tools, .status p:not([hidden])')].map((e) => e.getBoundingClientRect()).map((b) => [b.left - left, b.top - top, b.right - left, b.bottom - top]);
}

if (window.matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
start().catch((error) => {
  const place = $('wait') || $('visible-count');
  place.textContent = `The page could not be displayed: ${error.message}. Open it in a current browser.`;
  throw error;
});
