// Downloads: points as CSV, the view as a figure.
import { UNLABELED, about, names } from './data.js';
import { element } from './card.js';
import { drawPng, drawSvg } from './map/figure.js';

export function save(blob, name) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A CSV field. A leading quote prevents spreadsheets from treating the text as a formula.
export function csv(text) {
  const plain = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

// The rows of points with their positions in the model, also if the map is spread.
export function saveCsv(page, indices) {
  const { points } = page;
  const [x0, y0, x1, y1] = about.box;
  const clusters = about.classifies ? null : page.clusters();
  const lines = [['row', 'part', 'label', ...(about.classifies ? ['predicted', 'probability', 'winner'] : ['cluster']), 'y1', 'y2', ...about.texts.map(csv)].join(',')];
  for (const i of indices) {
    const truth = points.truth[i] === UNLABELED ? '' : names[points.truth[i]];
    const part = ['test', 'train', ''][points.part[i]];
    const answer = about.classifies ? [csv(names[points.label[i]]), (points.proba[i] / 65535).toFixed(5), points.winner[i]] : [clusters.of[i] < clusters.count ? clusters.of[i] + 1 : ''];
    lines.push([points.row[i], part, csv(truth), ...answer, (x0 + ((x1 - x0) * points.x[i]) / 65535).toPrecision(7), (y0 + ((y1 - y0) * points.y[i]) / 65535).toPrecision(7),
      ...page.texts.map((list) => csv(list[i]))].join(','));
  }
  save(new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }), 'points.csv');
}

// The legend of a figure: [name, color] of the colors in it, or a scale.
function legendOf(page) {
  const { scale, list, palette } = page.colorLegend;
  if (scale) return { scale };
  return { list: list || (page.kind === 'none' ? [] : page.groups.map((k) => [page.names[k], palette[k]])) };
}

export async function saveFigure(page, format) {
  const figure = { map: page.map, title: document.title, legend: legendOf(page), note: document.getElementById('visible-count').textContent };
  if (format === 'svg') save(new Blob([drawSvg(figure)], { type: 'image/svg+xml' }), 'map.svg');
  else drawPng(figure).toBlob((blob) => save(blob, 'map.png'));
}
