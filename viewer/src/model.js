// The model in the page: reads the safetensors file that enhope writes
// (docs/reference/model-format.md), embeds and classifies. It sums in double precision; the command
// sums in single precision. Models that are stored in int8 are embedded in int8, as by the command.

import { expandBias, expandTensors } from './codes.js';
import { decodeInt8, int8Map } from './int8.js';

const TYPES = { F32: Float32Array, I32: Int32Array, I8: Int8Array, U8: Uint8Array, BF16: Uint16Array };

export function readModel(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const metadata = header.__metadata__;
  delete header.__metadata__;
  const tensor = {};
  for (const [name, { dtype, shape, data_offsets: place }] of Object.entries(header)) {
    const bytes = buffer.slice(8 + length + place[0], 8 + length + place[1]);
    tensor[name] = { dtype, shape, numbers: new TYPES[dtype](bytes), bytes: new Uint8Array(bytes) };
  }
  const coded = metadata.format_version === '4';
  if (coded) expandTensors(metadata, tensor);
  if (tensor['int8.C']) decodeInt8(tensor);
  if (coded) expandBias(tensor);
  return makeModel(metadata, tensor);
}

const sigmoid = (a) => 1 / (1 + Math.exp(-a));

// out[k] = sum_j x[j] A[j, k] for A (rows, columns). If A has one row more than x has numbers, that
// row is the bias.
function product(x, { shape: [rows, columns], numbers }) {
  const out = new Float64Array(columns);
  for (let j = 0; j < rows; j++) {
    const value = j < x.length ? x[j] : 1;
    if (value === 0) continue;
    for (let k = 0, at = j * columns; k < columns; k++) out[k] += value * numbers[at + k];
  }
  return out;
}

// out[i] = sum_k V[i, k] s[k] for V (h, m).
function outputs(s, { shape: [h, m], numbers }) {
  const out = new Float64Array(h);
  for (let i = 0; i < h; i++) for (let k = 0; k < m; k++) out[i] += numbers[i * m + k] * s[k];
  return out;
}

// A setting by its name, or by the name that it has in models of version 0.1.
const setting = (metadata, name, oldName) => metadata[name] ?? metadata[oldName];

function makeMap(metadata, tensor) {
  const t = (name) => tensor[`map.${name}`];
  if (metadata.map === 'identity') return (x) => x;
  if (metadata.map === 'linear') return (x) => product(x, t('A'));
  if (metadata.map === 'hope') {
    const order = Number(metadata.order);
    const bias = t('b').numbers;
    return (x) => {
      const u = product(x, t('C')).map((value) => value ** order);
      return outputs(product(u, t('W')).map((a, k) => sigmoid(a + bias[k])), t('V'));
    };
  }
  const activation = setting(metadata, 'activation', 'unit') === 'relu' ? (a) => Math.max(a, 0) : sigmoid;
  return (x) => {
    let s = product(x, t('C')).map(activation);
    for (let l = 2; t(`W${l}`); l++) {
      const bias = t(`b${l}`).numbers;
      s = product(s, t(`W${l}`)).map((a, k) => activation(a + bias[k]));
    }
    return outputs(s, t('V'));
  };
}

function makeModel(metadata, tensor) {
  const classes = JSON.parse(metadata.classes);
  const map = makeMap(metadata, tensor);
  const shift = tensor['scale.shift'].numbers;
  const mul = tensor['scale.mul'].numbers;
  const exemplars = tensor.exemplars;
  const labels = (tensor.exemplar_labels || tensor.point_labels).numbers;
  const H = shift.length;
  const h = Number(metadata.outputs);
  const dof = Number(setting(metadata, 'dof', 'freedom') || 1);
  const temperature = Number(metadata.temperature || 1);
  const gaussian = metadata.similarity === 'gaussian';

  let references = tensor.points && tensor.points.numbers;
  if (exemplars) {
    references = new Float64Array(labels.length * h);
    for (let j = 0; j < labels.length; j++) references.set(map(exemplars.numbers.subarray(j * H, (j + 1) * H)), j * h);
  }

  const embed = tensor['int8.C']
    ? int8Map(metadata, tensor)
    : (x) => map(Float64Array.from(x, (value, j) => (value - shift[j]) * mul[j]));

  // The logarithm of the similarity at squared distance d.
  const similarity = (d) => (gaussian ? -d : (-(dof + 1) / 2) * Math.log1p(d / dof));

  // The probability of each class: its share of the similarity to all exemplars, at the temperature
  // of the model.
  function probabilities(distances) {
    const logs = new Float64Array(classes.length).fill(-Infinity);
    const max = distances.reduce((best, d) => Math.max(best, similarity(d)), -Infinity);
    const sums = new Float64Array(classes.length);
    distances.forEach((d, j) => (sums[labels[j]] += Math.exp(similarity(d) - max)));
    sums.forEach((sum, k) => (logs[k] = Math.log(sum) / temperature));
    const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = logs.map((a) => Math.exp(a - top));
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((p) => p / total);
  }

  // The majority among the k nearest references; the nearest reference breaks ties.
  function vote(distances, k) {
    const nearest = [];
    for (let j = 0; j < distances.length; j++) {
      if (nearest.length === k && distances[j] >= distances[nearest[k - 1]]) continue;
      let at = nearest.length;
      while (at > 0 && distances[nearest[at - 1]] > distances[j]) at--;
      nearest.splice(at, 0, j);
      if (nearest.length > k) nearest.pop();
    }
    const votes = new Float64Array(classes.length);
    for (const j of nearest) votes[labels[j]]++;
    const max = Math.max(...nearest.map((j) => votes[labels[j]]));
    return { label: labels[nearest.find((j) => votes[labels[j]] === max)], winner: nearest[0], votes };
  }

  // x (H) in the units of the data. k: neighbors that vote; 0: the rule of the model, which is the most
  // probable class unless votes decide.
  function classify(x, k = 0) {
    const y = embed(x);
    const distances = new Float64Array(labels.length);
    for (let j = 0; j < labels.length; j++)
      for (let d = 0; d < h; d++) distances[j] += (y[d] - references[j * h + d]) ** 2;
    const voters = k || Number(metadata.neighbours);
    const { label, winner, votes } = vote(distances, voters);
    const proba = exemplars ? probabilities(distances) : votes.map((n) => n / voters);
    const voted = k > 0 || !exemplars || metadata.rule === 'votes';
    const best = voted ? label : proba.indexOf(Math.max(...proba));
    return { y, label: best, winner, distance: Math.sqrt(distances[winner]), proba };
  }

  // Exemplar j in the units of the data; null: the model has none.
  function exemplar(j) {
    if (!exemplars) return null;
    return Float64Array.from({ length: H }, (_, i) => (mul[i] ? exemplars.numbers[j * H + i] / mul[i] : 0) + shift[i]);
  }

  return { metadata, classes, inputs: H, exemplars: exemplars ? labels.length : 0, classify, embed, exemplar, rule: { gaussian, dof } };
}
