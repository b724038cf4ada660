// What is typical of a cluster: the words or columns whose mean in the cluster differs most from the
// mean of all points, in standard deviations of all points. Only points with a stored sample count.
import { about, columns, inputName } from './data.js';

const MIN_DEVIATIONS = 0.5; // standard deviations
const WORDS = 3; // in a name,
const COLUMNS = 2; // and columns

// The texts of an input above and below its mean: [above, below]; null: not used. An input of an
// encoded column stands for its number, one of its categories, its date or its missing values.
function inputTexts() {
  if (about.kind === 'words') return Array.from({ length: about.inputs }, (_, j) => [inputName(j), null]);
  const signed = (name) => [`high ${name}`, `low ${name}`];
  if (!columns || about.fields < about.inputs) return Array.from({ length: about.fields }, (_, j) => signed(inputName(j)));
  const texts = new Array(about.inputs).fill(null);
  for (const column of columns) {
    const values = column.inputs - (column.missing ? 1 : 0);
    if (column.missing) texts[column.first + values] = [`${column.name} missing`, null];
    if (!values) continue;
    if (column.type === 'category') for (let k = 0; k < values; k++) texts[column.first + k] = [`${column.name}: ${column.categories[k] ?? '(other)'}`, null];
    else if (column.type === 'boolean') texts[column.first] = [`${column.name}: yes`, `${column.name}: no`];
    else texts[column.first] = column.type === 'date' ? [`late ${column.name}`, `early ${column.name}`] : signed(column.name);
  }
  return texts;
}

// For each cluster [text, standard deviations], most typical first. clusters: {of, count}.
export function typicalTexts({ of, count }, samples) {
  const out = Array.from({ length: count }, () => []);
  if (about.kind === 'image' || !about.details) return out;
  const texts = inputTexts();
  const H = texts.length;
  const sizes = new Float64Array(count);
  const sums = Array.from({ length: count }, () => new Float64Array(H));
  const [sum, squares] = [new Float64Array(H), new Float64Array(H)];
  const shift = new Float64Array(H); // the first values, so that the squares are small
  let n = 0;
  for (let i = 0; i < of.length; i++) {
    const sample = samples(i);
    if (!sample) continue;
    if (!n && sample.fields) shift.set(sample.fields.subarray(0, H));
    n++;
    if (of[i] < count) sizes[of[i]]++;
    const own = of[i] < count ? sums[of[i]] : null;
    const add = (j, value) => {
      sum[j] += value;
      squares[j] += value * value;
      if (own) own[j] += value;
    };
    if (sample.words) for (const [j, value] of sample.words) add(j, value);
    else for (let j = 0; j < H; j++) add(j, sample.fields[j] - shift[j]);
  }
  for (let k = 0; k < count; k++) {
    if (!sizes[k]) continue;
    for (let j = 0; j < H; j++) {
      const deviation = Math.sqrt(Math.max(0, squares[j] / n - (sum[j] / n) ** 2));
      if (!texts[j] || !(deviation > 0)) continue;
      const z = (sums[k][j] / sizes[k] - sum[j] / n) / deviation;
      const text = texts[j][z > 0 ? 0 : 1];
      if (text && Math.abs(z) >= MIN_DEVIATIONS) out[k].push([text, Math.abs(z)]);
    }
    out[k].sort((a, b) => b[1] - a[1]);
  }
  return out;
}

// The name of a cluster with these texts; null: nothing is typical of it.
export function typicalName(texts) {
  const limit = about.kind === 'words' ? WORDS : COLUMNS;
  return texts.length ? texts.slice(0, limit).map(([text]) => text).join(', ') : null;
}
