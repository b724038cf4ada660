// The view as a file: PNG with two pixels per pixel of the screen, or SVG. Both have the title above
// the map and the legend beside it.
import { THEMES, font } from './theme.js';

const RATIO = 2;
const TITLE = 44; // pixels above the map
const LINE = 20;
const LISTED = 40; // entries of the legend
const CIRCLES = 20000; // more points are a picture in the SVG
const PAD = 16;

const shorten = (text, max = 24) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

// The parts of a figure around the map: sizes, and texts [x, y, text, size, bold], dots [x, y, color] and bars.
function layout({ map, title, legend, note }) {
  const { wide, high } = map.camera;
  const theme = THEMES[document.documentElement.dataset.theme];
  const measure = new OffscreenCanvas(1, 1).getContext('2d');
  measure.font = font(13, false);
  const entries = legend.list ? legend.list.slice(0, LISTED).map(([name, color]) => [shorten(name), color]) : [];
  if (legend.list && legend.list.length > LISTED) entries.push([`and ${legend.list.length - LISTED} more`, null]);
  const room = Math.max(1, Math.floor((high - PAD) / LINE));
  const columns = Math.max(1, Math.ceil(entries.length / room));
  const column = Math.min(220, Math.max(70, ...entries.map(([name]) => measure.measureText(name).width + 30)));
  const side = legend.scale ? 90 : columns * column;
  const texts = [[PAD, TITLE / 2 - 5, title, 16, true], [PAD, TITLE / 2 + 12, note, 11, false]];
  const marks = [];
  const bars = [];
  entries.forEach(([name, color], i) => {
    const [x, y] = [wide + PAD / 2 + column * Math.floor(i / room), TITLE + PAD + LINE * (i % room)];
    if (color) marks.push([x + 6, y, color]);
    texts.push([x + (color ? 18 : 0), y, name, 13, false]);
  });
  if (legend.scale) {
    const [top, bottom] = [TITLE + PAD, TITLE + Math.min(high - PAD, 220)];
    legend.scale.colors.forEach((color, k, all) => bars.push([wide + PAD, bottom - ((bottom - top) * (k + 1)) / all.length, 14, (bottom - top) / all.length + 0.5, color]));
    texts.push([wide + PAD + 20, top + 6, legend.scale.high, 13, false], [wide + PAD + 20, bottom - 6, legend.scale.low, 13, false]);
  }
  return { theme, wide: Math.round(wide + PAD + side), high: Math.round(high + TITLE), texts, marks, bars };
}

export function drawPng(figure) {
  const { theme, wide, high, texts, marks, bars } = layout(figure);
  const { camera } = figure.map;
  const inner = document.createElement('canvas');
  [inner.width, inner.height] = [Math.round(camera.wide * RATIO), Math.round(camera.high * RATIO)];
  figure.map.paintOn(inner.getContext('2d', { willReadFrequently: true }), RATIO);
  const out = document.createElement('canvas');
  [out.width, out.height] = [wide * RATIO, high * RATIO];
  const g = out.getContext('2d');
  g.scale(RATIO, RATIO);
  g.fillStyle = theme.background;
  g.fillRect(0, 0, wide, high);
  g.drawImage(inner, 0, TITLE, camera.wide, camera.high);
  g.textBaseline = 'middle';
  for (const [x, y, width, height, color] of bars) {
    g.fillStyle = color;
    g.fillRect(x, y, width, height);
  }
  for (const [x, y, color] of marks) {
    g.fillStyle = color;
    g.beginPath();
    g.arc(x, y, 5, 0, 2 * Math.PI);
    g.fill();
  }
  for (const [x, y, text, size, bold] of texts) {
    g.font = font(size, bold);
    g.fillStyle = theme.ink;
    g.fillText(text, x, y);
  }
  return out;
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd');
const num = (value) => String(Math.round(value * 100) / 100);

function circles(scene) {
  const { dots, diameter, opacity } = scene;
  const groups = new Map(); // points of one appearance are one element
  for (const dot of dots) {
    const key = `${dot.color} ${dot.faded ? 0.1 : dot.ring ? 1 : opacity} ${dot.small} ${dot.ring || ''}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(dot);
  }
  const sorted = [...groups.values()].sort((a, b) => Boolean(a[0].ring) - Boolean(b[0].ring));
  return sorted.map((list) => {
    const [{ color, faded, small, ring }] = list;
    const radius = (diameter * (small ? 0.65 : 1)) / 2;
    const shape = (r) => list.map(({ x, y }) => `<circle cx="${num(x)}" cy="${num(y)}" r="${num(r)}"/>`).join('');
    const edge = ring ? `<g fill="none" stroke="${ring}" stroke-width="1.3">${shape(radius + 1.5)}</g>` : '';
    return `${edge}<g fill="${color}" fill-opacity="${faded ? 0.1 : ring ? 1 : num(opacity)}">${shape(radius)}</g>`;
  }).join('\n');
}

// Everything of the canvas that is not a shape of its own.
function image(map, paint) {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(map.camera.wide * RATIO), Math.round(map.camera.high * RATIO)];
  paint(canvas.getContext('2d', { willReadFrequently: true }), RATIO);
  return `<image width="${num(map.camera.wide)}" height="${num(map.camera.high)}" href="${canvas.toDataURL('image/png')}"/>`;
}

export function drawSvg(figure) {
  const { map, title } = figure;
  const { theme, wide, high, texts, marks, bars } = layout(figure);
  const scene = map.scene(new OffscreenCanvas(1, 1).getContext('2d'));
  const text = (x, y, size, bold, content, more = '') => `<text x="${num(x)}" y="${num(y + size * 0.35)}" font-size="${size}"${bold ? ' font-weight="650"' : ''}${more}>${escape(content)}</text>`;
  const asPicture = scene.dots.length > CIRCLES || scene.asPicture;
  const inner = asPicture ? [image(map, (g, ratio) => map.paintOn(g, ratio))] : [
    scene.hasRegions ? image(map, (g, ratio) => map.paintUnder(g, ratio)) : '',
    ...scene.marks.map(([x, y, color]) => `<circle cx="${num(x)}" cy="${num(y)}" r="${scene.radius}" fill="none" stroke="${color}" stroke-width="1.5"/>`),
    circles(scene),
    ...scene.labels.map(({ name, count, x, y }) => `<text x="${num(x)}" y="${num(y + scene.nameSize * 0.35)}" font-size="${scene.nameSize}" paint-order="stroke" stroke="${theme.halo}" stroke-width="4" stroke-linejoin="round"><tspan font-weight="650">${escape(name)}</tspan>${count ? `<tspan fill="${theme.soft}"> ${escape(count)}</tspan>` : ''}</text>`),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" font-family="system-ui, sans-serif" fill="${theme.ink}">
<title>${escape(title)}</title>
<rect width="${wide}" height="${high}" fill="${theme.background}"/>
<svg x="0" y="${TITLE}" width="${num(scene.wide)}" height="${num(scene.high)}">
${inner.join('\n')}
</svg>
${bars.map(([x, y, w, h, color]) => `<rect x="${num(x)}" y="${num(y)}" width="${w}" height="${num(h)}" fill="${color}"/>`).join('\n')}
${marks.map(([x, y, color]) => `<circle cx="${num(x)}" cy="${num(y)}" r="5" fill="${color}"/>`).join('\n')}
${texts.map(([x, y, content, size, bold]) => text(x, y, size, bold, content)).join('\n')}
</svg>
`;
}
