// The tools above the map, the display settings, the keys and the tabs.
import { about, percent } from '../data.js';
import { repaintPictures } from '../card.js';
import { saveCsv, saveFigure } from '../files.js';
import { saveState } from '../fragment.js';
import { classColors, useColors } from '../palette.js';
import { clearAll, pick } from './selection.js';

const $ = (id) => document.getElementById(id);
const COLLAPSED = 0.6; // share of the points at their exemplars from which on the page proposes Spread

export function makeTools(page) {
  const lasso = (on) => {
    $('lasso').setAttribute('aria-pressed', on);
    $('pan').setAttribute('aria-pressed', !on);
    page.map.setLasso(on);
  };
  page.lasso = lasso;
  $('pan').addEventListener('click', () => lasso(false));
  $('lasso').addEventListener('click', () => lasso(true));
  $('zoom-in').addEventListener('click', () => page.map.zoom(1.4));
  $('zoom-out').addEventListener('click', () => page.map.zoom(1 / 1.4));
  $('fit').addEventListener('click', () => page.map.fit());
  $('save-csv').addEventListener('click', () => saveCsv(page, page.visible));
  $('save-picture').addEventListener('click', () => saveFigure(page, 'png'));
  $('save-svg').addEventListener('click', () => saveFigure(page, 'svg'));
  $('theme').addEventListener('click', () => setTheme(page, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
}

// What the map shows: regions, exemplars, names, pictures, spread.
export function makeDisplay(page) {
  [page.spread, page.regions, page.marks, page.labels, page.pictures] = [0, true, true, true, true];
  const collapsed = page.map.canSpread ? page.map.shareNear() : 0;
  $('spread-part').hidden = !page.map.canSpread;
  $('regions').disabled = !page.map.hasRegions();
  $('regions-part').hidden = !page.map.hasRegions();
  $('marks-part').hidden = !about.exemplars.length;
  $('labels-part').hidden = page.kind === 'none';
  $('pictures-part').hidden = about.kind !== 'image' || !about.details;
  const show = () => {
    $('spread').value = 100 * page.spread;
    $('spread-value').textContent = `${Math.round(100 * page.spread)} %`;
    $('regions').checked = page.regions && !page.spread;
    $('regions').disabled = page.spread > 0;
    $('regions-note').textContent = page.spread ? 'not with Spread' : '';
    for (const id of ['marks', 'labels', 'pictures']) $(id).checked = page[id];
    $('propose').hidden = page.spread > 0 || collapsed < COLLAPSED;
  };
  page.display = (changes) => {
    const { spread } = page;
    Object.assign(page, changes);
    if (!page.map.canSpread) page.spread = 0;
    show();
    if (page.spread !== spread) page.map.spread(page.spread);
    page.map.setShow({ regions: page.regions, exemplars: page.marks, labels: page.labels, pictures: page.pictures });
    saveState(page);
  };
  $('spread').addEventListener('input', (e) => page.display({ spread: Number(e.target.value) / 100 }));
  for (const id of ['regions', 'marks', 'labels', 'pictures']) $(id).addEventListener('change', (e) => page.display({ [id]: e.target.checked }));
  $('propose-text').textContent = `${percent(collapsed, 1, 0)} of the points overlap.`;
  $('propose').title = 'They lie within 10 pixels of their exemplar';
  $('nowhere-button').addEventListener('click', () => page.map.fit());
  $('propose-button').addEventListener('click', () => page.display({ spread: 1 }));
  show();
}

export function paintTheme(page) {
  const name = document.documentElement.dataset.theme;
  const colors = classColors(page.colors, name);
  useColors(colors);
  page.map.setTheme(name, colors);
  page.paintColors();
}

function setTheme(page, name) {
  document.documentElement.dataset.theme = name;
  paintTheme(page);
  repaintPictures();
  if (page.try.repaint) page.try.repaint();
  if (page.animation) page.animation.repaint();
}

export function makeKeys(page) {
  const step = (by) => {
    if (!page.visible.length) return;
    const at = page.visible.indexOf(page.pinned);
    pick(page, page.visible[at < 0 ? 0 : (at + by + page.visible.length) % page.visible.length]);
  };
  const keys = {
    ArrowLeft: () => page.map.move(0.1, 0), ArrowRight: () => page.map.move(-0.1, 0), ArrowUp: () => page.map.move(0, 0.1), ArrowDown: () => page.map.move(0, -0.1),
    '+': () => page.map.zoom(1.25), '=': () => page.map.zoom(1.25), '-': () => page.map.zoom(0.8), 0: () => page.map.fit(),
    '.': () => step(1), ',': () => step(-1), l: () => page.lasso($('lasso').getAttribute('aria-pressed') !== 'true'),
  };
  $('points').addEventListener('keydown', (e) => {
    const act = keys[e.key] || keys[e.key.toLowerCase()];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    act();
    e.preventDefault();
  });
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') clearAll(page);
  });
}

export function makeTabs(page) {
  const tabs = [['tab-explore', 'explore'], ['tab-try', 'try'], ['tab-training', 'training']].filter(([tab]) => !$(tab).hidden);
  const open = (which) => {
    tabs.forEach(([tab, panel], i) => {
      $(tab).setAttribute('aria-selected', i === which);
      $(tab).tabIndex = i === which ? 0 : -1;
      $(panel).hidden = i !== which;
    });
    document.body.dataset.tab = tabs[which][1];
    if (which === 1 && page.try.start) page.try.start();
    if (page.animation) page.animation.open(which === 2);
    $('visible-count').hidden = which === 2; // the animation shows other points
    $('card').hidden = true;
  };
  page.open = (which) => {
    if ($(tabs[which][0]).getAttribute('aria-selected') !== 'true') open(which);
  };
  tabs.forEach(([tab], i) => {
    $(tab).addEventListener('click', () => open(i));
    $(tab).addEventListener('keydown', (e) => {
      if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
      const next = (i + (e.key === 'ArrowRight' ? 1 : tabs.length - 1)) % tabs.length;
      open(next);
      $(tabs[next][0]).focus();
    });
  });
}
