// Colors of classes. The light ones are those of enhope plot (cli/plot/palette.c, which describes
// how they were chosen). A class has the same color in every map of a model, and related hues in the
// two themes. tests/palette.py checks that the tables agree, the contrast of at least 3:1 with the
// backgrounds of page.css, and the differences between colors, also as simulated for people who lack
// one kind of cone.
const table = {
  light: [
    '#1100cc', '#bb8800', '#880000', '#8888bb', '#ff3377', '#770066', '#005544', '#667744', '#1166cc', '#119988',
    '#ff5511', '#664400', '#0099cc', '#996688', '#444477', '#6644ff', '#aa4444', '#770033', '#998855', '#337766',
    '#334400', '#009900', '#bb00bb', '#bb7777', '#cc55ff', '#bb1166', '#007733', '#ee44aa', '#552288', '#773333',
    '#aa5511', '#117788', '#5588ff', '#889900', '#669966', '#005577', '#bb77bb', '#773300', '#0044cc', '#886644',
    '#ff0033', '#7755aa', '#777700', '#774466', '#0099aa', '#8877ff', '#005500', '#bb5577', '#aa7755', '#7700cc',
    '#cc2200', '#cc7722', '#885544', '#0077aa', '#003388', '#224422', '#aa00ff', '#aa4488', '#aa77dd', '#cc5544',
    '#886600', '#cc7799', '#dd0055', '#556699', '#553366', '#998800', '#555500', '#336644', '#4466ff', '#553311',
    '#447700', '#882299', '#ee00dd', '#009966', '#0088dd', '#779944', '#884455', '#9966aa', '#991133', '#dd1188',
    '#cc6633', '#885511', '#228888', '#9955ff', '#2222ff', '#5544aa', '#aa6655', '#882255', '#663322', '#bb55aa',
    '#994422', '#aa7733', '#6677cc', '#dd6666', '#ff1100', '#aa0088', '#448855', '#1188aa', '#8844cc', '#cc1133',
  ],
  dark: [
    '#6644ff', '#eedd77', '#bb4433', '#ccccff', '#ee9999', '#bb6699', '#008866', '#77aa00', '#5599ff', '#22eecc',
    '#886600', '#ff9933', '#22aabb', '#ff3366', '#666699', '#cc44ff', '#ffccaa', '#ff88ff', '#998800', '#88dddd',
    '#00ff44', '#447700', '#9988dd', '#bb8866', '#0066dd', '#ffbbdd', '#bbddaa', '#cc1166', '#bb2299', '#ff77aa',
    '#ff5500', '#007788', '#77ccff', '#bbaa77', '#bbee00', '#1199cc', '#995566', '#bb7777', '#aa11dd', '#777744',
    '#aa5500', '#ff00bb', '#ddaa00', '#ccaadd', '#55aa99', '#6677ff', '#779966', '#ff4444', '#ffcc77', '#8877aa',
    '#bb7700', '#ff8866', '#886644', '#0077aa', '#99bbff', '#33cc88', '#cc77cc', '#8866dd', '#bb77ff', '#ff0088',
    '#bbbb00', '#885599', '#cc6644', '#bbaaff', '#cc88aa', '#aabb77', '#99ee88', '#88bb99', '#7788bb', '#777700',
    '#009922', '#bb55bb', '#cc5577', '#00cc00', '#0088dd', '#447744', '#ff1100', '#8899ff', '#ffaa77', '#ff7777',
    '#dd0044', '#cc9955', '#00ddff', '#ff44ff', '#aa88bb', '#ff99dd', '#cc6611', '#aa4477', '#ffbbaa', '#dd7788',
    '#cc4400', '#998855', '#22aaff', '#ff7700', '#aa5555', '#ff66cc', '#77bb66', '#008888', '#eeccff', '#ffaabb',
  ],
};
const GRAY = '#8a8f98';

// The colors of c classes, then of unlabeled points and of unknown classes. Colors repeat after a
// hundred classes.
export function classColors(c, theme) {
  const colors = Array.from({ length: c }, (_, k) => table[theme][k % table[theme].length]);
  return [...colors, GRAY, GRAY];
}

// The color of class k for use in styles; useColors defines it.
export const colorOf = (k) => `var(--class-${k})`;
export function useColors(colors) {
  colors.forEach((color, k) => document.documentElement.style.setProperty(`--class-${k}`, color));
}
