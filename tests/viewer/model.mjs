// Compares the model in the page with the command: embeddings, labels, nearest references and
// probabilities of 1,000 samples, for every kind of map and for a table with columns of all types.
//
// usage: node model.mjs ENHOPE MODEL.JS FOLDER
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [enhope, source, folder] = process.argv.slice(2);
const { readModel } = await import(pathToFileURL(source));
const { daysOf, decodeRow, encodeRow, layoutColumns } = await import(pathToFileURL(join(dirname(source), 'columns.js')));
const run = (...args) => execFileSync(enhope, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
const rows = (csv) => csv.trim().split('\n').slice(1).map((line) => line.split(',').map((text) => text.replaceAll('"', '')));

const data = 'synthetic:blobs,n=400,classes=4,inputs=13,seed=3';
const small = ['--n-epochs', '3', '--quiet', '--limit', '300'];
const models = [
  ['hope', ['--method', 'en-hope', '--order', '3', '--n-factors', '17', '--n-hidden', '9', '-z', '11']],
  ['dof', ['--method', 'en-hope', '--order', '1', '--n-factors', '8', '--n-hidden', '5', '-z', '8', '--dof', '5', '-k', '3']],
  ['gaussian', ['--method', 'en-hope', '--order', '4', '--n-factors', '8', '--n-hidden', '5', '--similarity', 'gaussian', '--scaling', 'standard']],
  ['mlp', ['--method', 'deep-en-hope', '--hidden-layer-sizes', '12-7-5']],
  ['relu', ['--method', 'dt-mcml', '--hidden-layer-sizes', '12-7', '--activation', 'relu']],
  ['linear', ['--method', 'linear-en-hope', '-z', '8']],
  ['points', ['--method', 'mcml+', '-k', '5']],
  ['identity', ['--method', 'snc', '-z', '8']],
];

let state = 7;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
const samples = Array.from({ length: 1000 }, () => Array.from({ length: 13 }, () => Math.fround(6 * random() - 3)));
writeFileSync(join(folder, 'x.csv'), samples.map((x) => x.join(',')).join('\n') + '\n');

// Compares samples (inputs of the model) with the rows of a file. Returns the model.
let failed = 0;
function compare(name, file, inputsOf) {
  const bytes = readFileSync(join(folder, `${name}.safetensors`));
  const model = readModel(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const places = rows(run('embed', `${name}.safetensors`, '--data', file, '--label', 'none'));
  const answers = rows(run('predict', `${name}.safetensors`, '--data', file, '--label', 'none', '--proba', '--winner')).map((row) => row.slice(1));
  const c = model.classes.length;
  let [distance, proba, different] = [0, 0, 0];
  inputsOf(model).forEach((x, i) => {
    const result = model.classify(x);
    const size = Math.max(1, ...result.y.map(Math.abs));
    result.y.forEach((y, d) => (distance = Math.max(distance, Math.abs(y - Number(places[i][d])) / size)));
    result.proba.forEach((p, k) => (proba = Math.max(proba, Math.abs(p - Number(answers[i][1 + k])))));
    different += model.classes[result.label] !== answers[i][0] || result.winner !== Number(answers[i][1 + c]);
  });
  const good = distance <= 1e-5 && proba <= 1e-5 && different === 0;
  failed += !good;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name}: embedding within ${distance.toExponential(1)}, probabilities within ${proba.toExponential(1)}, ${different} labels or nearest references differ`);
  return model;
}

for (const [name, settings] of models) {
  run('train', '--data', data, ...small, ...settings, '-o', `${name}.safetensors`);
  compare(name, 'x.csv', () => samples);
}
run('quantize', 'hope.safetensors', '--data', data, '--max-loss', '100', '-o', 'int8.safetensors');
compare('int8', 'x.csv', () => samples);
run('compress', 'hope.safetensors', '--data', data, '--size', '3kB', '--n-epochs', '10', '--quiet', '-o', 'small.safetensors');
compare('small', 'x.csv', () => samples);

// A compressed model of images.
const digits = 'synthetic:digits,n=300,seed=1';
run('train', '--data', digits, '--n-factors', '20', '--n-hidden', '9', '--n-epochs', '3', '--quiet', '-o', 'digits.safetensors');
run('compress', 'digits.safetensors', '--data', digits, '--size', '8kB', '--n-epochs', '10', '--quiet', '-o', 'digits8.safetensors');
const pixels = samples.map(() => Array.from({ length: 784 }, () => Math.floor(256 * random())));
writeFileSync(join(folder, 'pixels.csv'), pixels.map((x) => x.join(',')).join('\n') + '\n');
compare('digits8', 'pixels.csv', () => pixels);

// ---- a table with columns of all types ----

const pick = (list) => list[Math.floor(random() * list.length)];
const pad = (n) => String(n).padStart(2, '0');
// Missing values, categories that training did not have, rare ones, dates around leap days, large
// numbers.
function makeRow(k, unseen) {
  const day = `${1960 + 30 * k + Math.floor(9 * random())}-${pick(['02-28', '03-01', '12-31', '01-01', '07-15'])}`;
  return [
    random() < 0.1 ? '' : (20 * k + 9 * random()).toFixed(2),
    random() < 0.05 ? '' : unseen && random() < 0.1 ? 'violet' : random() < 0.004 ? pick(['a', 'b', 'c', 'd']) : pick([['red', 'blue'], ['blue', 'green'], ['green', 'grey']][k]),
    pick(['yes', 'no']),
    `${day} ${pad(Math.floor(24 * random()))}:${pad(Math.floor(60 * random()))}`,
    random() < 0.1 ? '' : day,
    (1e9 + 4 * k + 3 * random()).toFixed(3),
  ];
}
const header = 'size,color,member,seen,born,mass';
const training = Array.from({ length: 900 }, (_, i) => [...makeRow(i % 3, false), 'bad fair good'.split(' ')[i % 3]]);
const others = Array.from({ length: 1000 }, (_, i) => makeRow(i % 3, true));
writeFileSync(join(folder, 'table.csv'), `${header},quality\n${training.map((row) => row.join(',')).join('\n')}\n`);
writeFileSync(join(folder, 'others.csv'), `${header}\n${others.map((row) => row.join(',')).join('\n')}\n`);
run('train', '--data', 'table.csv', '--label', 'quality', '--n-epochs', '3', '--quiet', '-o', 'table.safetensors');
const read = (column, text) => (text === '' ? null : column.type === 'category' ? text : column.type === 'boolean' ? Number(text === 'yes') : column.type === 'date' ? daysOf(text) : Number(text));
const columnsOf = (model) => layoutColumns(JSON.parse(model.metadata.columns).columns);
const encoded = (model) => others.map((row) => encodeRow(columnsOf(model), columnsOf(model).map((column, j) => read(column, row[j]))));
const table = compare('table', 'others.csv', encoded);
const types = columnsOf(table).map((column) => column.type).join(' ');
if (types !== 'number category boolean date date number' || columnsOf(table).at(-1).first + columnsOf(table).at(-1).inputs !== table.inputs) {
  failed++;
  console.log(`FAILED table: the columns are ${types} with ${table.inputs} inputs`);
}
// Decoding inverts encoding, so a point of the page can be edited.
const columns = columnsOf(table);
const again = encoded(table).filter((x) => encodeRow(columns, decodeRow(columns, x)).some((v, j) => Math.abs(v - x[j]) > 1e-6 * Math.max(1, Math.abs(x[j])))).length;
if (again) {
  failed++;
  console.log(`FAILED table: ${again} rows change if they are decoded and encoded again`);
}
process.exit(failed ? 1 : 0);
