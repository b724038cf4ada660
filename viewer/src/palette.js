// Colours of classes that people with any colour vision can tell apart: ten by M. Petroff (2021), then hues that differ in
// lightness from their neighbours.
const ten = ['#3f90da', '#ffa90e', '#bd1f01', '#94a4a2', '#832db6', '#a96b59', '#e76300', '#b9ac70', '#717581', '#92dadd'];

function hue(i) {
  const h = (i * 137.508) % 360;
  const [s, l] = [0.55, [0.42, 0.62, 0.52][i % 3]];
  const part = (n) => {
    const k = (n + h / 30) % 12;
    const value = l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, '0');
  };
  return '#' + part(0) + part(8) + part(4);
}

// Of c classes, unlabelled points and unknown classes.
export function classColours(c) {
  const colours = Array.from({ length: c }, (_, k) => (c <= ten.length ? ten[k] : hue(k)));
  return [...colours, '#8a8f98', '#8a8f98'];
}
