// What is drawn above the points: names, marks, the lasso, the tried sample, a frame of training.
import { font, ring } from './theme.js';

// labels: those of labels.js.
export function paintLabels(g, labels, theme, size) {
  g.textBaseline = 'middle';
  g.textAlign = 'left';
  g.lineJoin = 'round';
  for (const { name, count, x, y } of labels) {
    let left = x;
    for (const [text, bold] of [[name, true], [count && ` ${count}`, false]]) {
      if (!text) continue;
      g.font = font(size, bold);
      g.lineWidth = 4;
      g.strokeStyle = g.fillStyle = theme.halo;
      if (!bold) g.fillRect(left, y - 0.45 * size, g.measureText(' ').width, 0.9 * size); // a dot there reads as a point
      g.strokeText(text, left, y);
      g.fillStyle = bold ? theme.ink : theme.soft;
      g.fillText(text, left, y);
      left += g.measureText(text).width;
    }
  }
}

export function paintFrame(g, frame, camera, colors) {
  for (const [a, b, k] of frame) {
    const [x, y] = camera.at(a, b);
    g.fillStyle = colors[k] + 'd0';
    g.beginPath();
    g.arc(x, y, 3, 0, 2 * Math.PI);
    g.fill();
  }
}

export function paintTried(g, [x, y], color, theme) {
  ring(g, [x, y], 13, theme.halo, 7);
  ring(g, [x, y], 13, theme.ink, 2.5, color);
  g.strokeStyle = theme.ink;
  g.lineWidth = 2.5;
  g.beginPath();
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    g.moveTo(x + 13 * dx, y + 13 * dy);
    g.lineTo(x + 22 * dx, y + 22 * dy);
  }
  g.stroke();
}

export function paintMark(g, at, radius, theme) {
  ring(g, at, radius, theme.halo, 5);
  ring(g, at, radius, theme.ink, 2);
}

// A point that the search finds.
export function paintMatch(g, at, radius, theme) {
  ring(g, at, radius, theme.halo, 3.5);
  ring(g, at, radius, theme.ink, 1.5);
}

export function paintLasso(g, path, theme) {
  g.strokeStyle = theme.ink;
  g.lineWidth = 2;
  g.fillStyle = theme.ink + '14';
  g.beginPath();
  for (const at of path) g.lineTo(...at);
  g.fill();
  g.stroke();
}
