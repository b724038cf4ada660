// Colours of classes, in the order of enhope plot, that people with any colour vision can tell apart: the least distance of two
// of them in CIELAB, also as seen without one kind of cone, is 20 (light) and 15 (dark). Beyond ten classes: hues, of three
// lightnesses in turn.
const ten = {
  light: ['#1111ee', '#00ddaa', '#005500', '#eeaaee', '#888800', '#bb4466', '#229999', '#bbcc00', '#772266', '#aa66ff'],
  dark: ['#4455ff', '#00e0b0', '#1f7a30', '#f0b4f0', '#98982c', '#cf5575', '#2f9f9f', '#d5e35a', '#93398a', '#b07cff'],
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
