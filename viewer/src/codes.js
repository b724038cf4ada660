// The smaller forms of tensors in compressed models (docs/reference/model-format.md): one number
// for all, numbers of sixteen bits, and the arithmetic code of a matrix.

const DENSITY = 65536; // a density of 1
const START = DENSITY / 8;
const SIZES = [1, 12, 30, 60];

// Reads bits, each with a model of its probability.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.low = 0;
    this.high = 0xffffffff;
    this.code = 0;
    for (let i = 0; i < 4; i++) this.code = this.code * 256 + this.next();
  }

  next() {
    return this.at < this.bytes.length ? this.bytes[this.at++] : 0;
  }

  bit(model) {
    // high - low has 32 bits and p has 16: the product is exact in two parts
    const width = this.high - this.low;
    const middle = this.low + Math.floor(width / 65536) * model.p + Math.floor(((width % 65536) * model.p) / 65536);
    const bit = this.code <= middle;
    if (bit) this.high = middle;
    else this.low = middle + 1;
    model.p += Math.trunc((((bit ? 65503 : 32) - model.p) * 2) / (2 * model.seen + 3));
    if (model.seen < 255) model.seen++;
    while (Math.floor(this.low / 2 ** 24) === Math.floor(this.high / 2 ** 24)) {
      this.low = (this.low % 2 ** 24) * 256;
      this.high = (this.high % 2 ** 24) * 256 + 255;
      this.code = (this.code % 2 ** 24) * 256 + this.next();
    }
    return bit ? 1 : 0;
  }
}

const densityClass = (density) => {
  let result = 0;
  while (result < 8 && density >= 256 * 2 ** result) result++;
  return result;
};

// The numbers (rows, columns) of a stream. width: numbers of a row of the image that a column is.
export function readCodes(bytes, rows, columns, width) {
  const count = bytes[0] + 1;
  const level = new Int8Array(bytes.slice(1, 1 + count).buffer);
  const reader = new Reader(bytes.subarray(1 + count));
  const bits = Math.ceil(Math.log2(count));
  const back = width < 2 ? [1, 2] : [1, width, width - 1];
  const models = new Map();
  const model = (...context) => {
    const key = context.join();
    if (!models.has(key)) models.set(key, { p: 32768, seen: 0 });
    return models.get(key);
  };
  const row = new Array(rows).fill(START);
  const numbers = new Int8Array(rows * columns);
  for (let j = 0; j < columns; j++) {
    let column = START;
    for (let k = 0; k < rows; k++) {
      const near = back.map((b) => (k >= b ? numbers[(k - b) * columns + j] : 0));
      const sum = near.reduce((a, b) => a + b, 0);
      const used = near.filter((value) => value !== 0).length;
      const there = reader.bit(model('zero', densityClass(row[k]), densityClass(column), used));
      if (there) {
        const size = SIZES.filter((limit) => Math.abs(sum) >= limit).length * Math.sign(sum);
        let node = 1;
        for (let i = 0; i < bits; i++) node = 2 * node + reader.bit(model('level', size, node));
        numbers[k * columns + j] = level[node - 2 ** bits];
      }
      const target = there ? DENSITY : 0;
      row[k] += Math.trunc((target - row[k]) / 16);
      column += Math.trunc((target - column) / 64);
    }
  }
  return numbers;
}

// Sixteen-bit numbers, the upper halves of floats.
function expandShort(bytes) {
  const halves = new Uint16Array(bytes.slice().buffer);
  return new Float32Array(Uint32Array.from(halves, (half) => half * 65536).buffer);
}

// Exemplars (r, H): a step, and codes of multiples of it, one column for each exemplar.
function expandExemplars(bytes, r, H, width) {
  const step = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true);
  const codes = readCodes(bytes.subarray(4), H, r, width);
  const numbers = new Float32Array(r * H);
  for (let k = 0; k < H; k++) for (let i = 0; i < r; i++) numbers[i * H + k] = step * codes[k * r + i];
  return { shape: [r, H], numbers };
}

// Replaces the smaller forms of tensors {dtype, shape, bytes} by full ones, and adds map.b.
export function expandTensors(metadata, tensor) {
  const [H, F, m] = ['inputs', 'factors', 'hidden'].map((name) => Number(metadata[name]));
  const width = metadata.image ? Number(metadata.image.split('x')[1]) : 0;
  const lengths = { 'scale.shift': H, 'scale.mul': H, 'int8.low': H, 'int8.step': H };
  for (const name of ['power_low', 'power_step', 'C_scale', 'C_bias']) lengths[`int8.${name}`] = F;
  for (const name of ['W_scale', 'W_bias']) lengths[`int8.${name}`] = m;
  for (const [name, t] of Object.entries(tensor)) {
    if (t.dtype === 'BF16') t.numbers = expandShort(t.bytes);
    const length = lengths[name];
    if (length > 1 && t.shape[0] === 1) t.numbers = new Float32Array(length).fill(t.numbers[0]);
    if (length) t.shape = [length];
  }
  tensor['int8.C'] = { shape: [H, F], numbers: readCodes(tensor['int8.C'].bytes, H, F, width) };
  tensor['int8.W'] = { shape: [F, m], numbers: readCodes(tensor['int8.W'].bytes, F, m, 0) };
  tensor.exemplars = expandExemplars(tensor.exemplars.bytes, tensor.exemplar_labels.shape[0], H, width);
}

// b is W_bias without the part that comes from power_low. map.W is decoded.
export function expandBias(tensor) {
  const { shape: [F, m], numbers: W } = tensor['map.W'];
  const low = tensor['int8.power_low'].numbers;
  const b = Float64Array.from(tensor['int8.W_bias'].numbers);
  for (let f = 0; f < F; f++) for (let j = 0; j < m; j++) b[j] -= low[f] * W[f * m + j];
  tensor['map.b'] = { shape: [m], numbers: Float32Array.from(b) };
}
