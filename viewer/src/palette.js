// Colors of classes that are distinguishable with any color vision. The light ones are those of
// enhope plot. The smallest distance between two of them in CIELAB, also as simulated for people
// who lack one kind of cone, is 19 in the light theme and 25 in the dark one. With more than ten
// classes: hues in three alternating lightnesses.
const ten = {
  light: ['#662266', '#bbbb00', '#2299aa', '#880000', '#ff9999', '#4455ff', '#997744', '#aaaaff', '#dd3388', '#005544'],
  dark: ['#92209f', '#b9d221', '#0eb8d0', '#b30c05', '#ffbdb7', '#4754ff', '#9a8459', '#a890ff', '#fa2c9c', '#0b6355'],
};
const GRAY = '#8a8f98';

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

// The colors of c classes, then of unlabeled points and of unknown classes.
export function classColors(c, theme) {
  const colors = Array.from({ length: c }, (_, k) => (c <= ten[theme].length ? ten[theme][k] : hue(k)));
  return [...colors, GRAY, GRAY];
}

// The color of class k for use in styles; useColors defines it.
export const colorOf = (k) => `var(--class-${k})`;
export function useColors(colors) {
  colors.forEach((color, k) => document.documentElement.style.setProperty(`--class-${k}`, color));
}
