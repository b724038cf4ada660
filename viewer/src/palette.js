// Colours of classes that people with any colour vision can tell apart, on paper those of enhope plot: the least distance of two
// of them in CIELAB, also as seen without one kind of cone, is 19 on paper and 25 in the dark. Beyond ten classes: hues, of three
// lightnesses in turn.
const ten = {
  light: ['#662266', '#bbbb00', '#2299aa', '#880000', '#ff9999', '#4455ff', '#997744', '#aaaaff', '#dd3388', '#005544'],
  dark: ['#92209f', '#b9d221', '#0eb8d0', '#b30c05', '#ffbdb7', '#4754ff', '#9a8459', '#a890ff', '#fa2c9c', '#0b6355'],
};
const GREY = '#8a8f98';

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
export function classColours(c, theme) {
  const colours = Array.from({ length: c }, (_, k) => (c <= ten[theme].length ? ten[theme][k] : hue(k)));
  return [...colours, GREY, GREY];
}

// The colour of class k in styles; useColours says what it is.
export const colourOf = (k) => `var(--class-${k})`;
export function useColours(colours) {
  colours.forEach((colour, k) => document.documentElement.style.setProperty(`--class-${k}`, colour));
}
