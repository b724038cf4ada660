// Colors of the map that are not those of classes, and shapes that several layers draw.
export const THEMES = {
  light: { background: '#fbfbf9', ink: '#1d2126', soft: '#5b636e', halo: '#ffffff', line: '#c9cac6' },
  dark: { background: '#14171c', ink: '#eceff3', soft: '#a3acb8', halo: '#14171c', line: '#3a424e' },
};

export const mixed = (a, b, share) => '#' + [1, 3, 5].map((at) => Math.round(parseInt(a.slice(at, at + 2), 16) * (1 - share) + parseInt(b.slice(at, at + 2), 16) * share).toString(16).padStart(2, '0')).join('');

export const font = (size, bold) => `${bold ? 650 : 400} ${size}px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif`;

export function ring(g, [x, y], radius, color, width, fill) {
  g.beginPath();
  g.arc(x, y, radius, 0, 2 * Math.PI);
  if (fill) {
    g.fillStyle = fill;
    g.fill();
  }
  g.lineWidth = width;
  g.strokeStyle = color;
  g.stroke();
}
