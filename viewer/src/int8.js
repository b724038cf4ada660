// The int8 arithmetic (docs/reference/int8.md), with the bits of the command: every operation on
// doubles that hold floats, rounded by Math.fround, is one operation of single precision.

const f = Math.fround;
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);

// The nearest integer, ties to even.
const round = (v) => f(f(v + 12582912) - 12582912);

const code = (x, low, inverse) => round(clamp(f(f(x - low) * inverse), 0, 255));

const TAYLOR = [120, 24, 6, 2, 1, 1].map((n) => f(1 / n));

function sigmoid(a) {
  const v = clamp(-a, -20, 20);
  const k = round(f(v * f(1.4426950408889634)));
  const r = f(f(v - f(k * 0.693359375)) + f(k * f(2.1219444e-4)));
  let p = f(1 / 720);
  for (const c of TAYLOR) p = f(f(p * r) + c);
  return f(1 / f(1 + f(p * 2 ** k)));
}

// out[k] = float(sum_j x[j] A[j, k]) scale[k] + bias[k] for A (rows, columns) and integers x.
function product(x, { shape: [rows, columns], numbers }, scale, bias) {
  const sum = new Int32Array(columns);
  for (let j = 0; j < rows; j++) {
    if (x[j] === 0) continue;
    for (let k = 0, at = j * columns; k < columns; k++) sum[k] += x[j] * numbers[at + k];
  }
  return Float64Array.from(sum, (s, k) => f(f(f(s) * scale[k]) + bias[k]));
}

// y of t: sixteen sums, which are then added in pairs.
function output(t, V, at) {
  const sum = new Float64Array(16);
  t.forEach((unit, j) => {
    const v = V[at + j];
    sum[j % 16] = f(sum[j % 16] + f((Math.abs(v) < 2 ** -60 ? 0 : v) * unit));
  });
  for (let d = 8; d >= 1; d /= 2) for (let l = 0; l < d; l++) sum[l] = f(sum[l] + sum[l + d]);
  return sum[0];
}

// The function from inputs in the units of the data to the embedding.
export function int8Map(metadata, tensor) {
  const numbers = (name) => tensor[`int8.${name}`].numbers;
  const inverse = (name) => numbers(name).map((step) => 1 / step); // a Float32Array
  const low = numbers('low');
  const powerLow = numbers('power_low');
  const stepInverse = inverse('step');
  const powerInverse = inverse('power_step');
  const { shape: [h, m], numbers: V } = tensor['map.V'];
  return (x) => {
    const xq = Array.from(x, (value, k) => code(f(value), low[k], stepInverse[k]));
    const u = product(xq, tensor['int8.C'], numbers('C_scale'), numbers('C_bias'));
    const sq = Array.from(u, (value, k) => {
      let s = value;
      for (let i = 1; i < Number(metadata.order); i++) s = f(s * value);
      return code(s, powerLow[k], powerInverse[k]);
    });
    const t = product(sq, tensor['int8.W'], numbers('W_scale'), numbers('W_bias')).map(sigmoid);
    return Float64Array.from({ length: h }, (_, i) => output(t, V, i * m));
  };
}

// The float tensors map.C and map.W that the int8 tensors stand for, with which exemplars are embedded.
export function decodeInt8(tensor) {
  const numbers = (name) => tensor[`int8.${name}`].numbers;
  const shift = tensor['scale.shift'].numbers;
  const mul = tensor['scale.mul'].numbers;
  const { shape: [H, F], numbers: C } = tensor['int8.C'];
  const { shape: [, m], numbers: W } = tensor['int8.W'];
  const [low, step, scale, bias] = ['low', 'step', 'C_scale', 'C_bias'].map(numbers);
  const [powerStep, hiddenScale] = ['power_step', 'W_scale'].map(numbers);
  const factors = new Float32Array((H + 1) * F);
  for (let k = 0; k < F; k++) {
    let sum = 0;
    for (let j = 0; j < H; j++) {
      const weight = C[j * F + k] * scale[k];
      factors[j * F + k] = mul[j] === 0 ? 0 : weight / (mul[j] * step[j]);
      sum += ((low[j] - shift[j]) / step[j]) * weight;
    }
    factors[H * F + k] = bias[k] - sum;
  }
  tensor['map.C'] = { shape: [H + 1, F], numbers: factors };
  tensor['map.W'] = { shape: [F, m], numbers: Float32Array.from(W, (w, i) => (w * hiddenScale[i % m]) / powerStep[Math.floor(i / m)]) };
}
