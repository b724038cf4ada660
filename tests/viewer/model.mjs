// Compares the model in the page with the command: embeddings, labels, nearest references and
// probabilities of 1,000 samples, for every kind of map.
//
// usage: node model.mjs ENHOPE MODEL.JS FOLDER
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [enhope, source, folder] = process.argv.slice(2);
const { readModel } = await import(pathToFileURL(source));
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

let failed = 0;
for (const [name, settings] of models) {
  run('train', '--data', data, ...small, ...settings, '-o', `${name}.safetensors`);
  const bytes = readFileSync(join(folder, `${name}.safetensors`));
  const model = readModel(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const places = rows(run('embed', `${name}.safetensors`, '--data', 'x.csv', '--label', 'none'));
  const answers = rows(run('predict', `${name}.safetensors`, '--data', 'x.csv', '--label', 'none', '--proba', '--winner'));
  const c = model.classes.length;
  let [distance, proba, different] = [0, 0, 0];
  samples.forEach((x, i) => {
    const result = model.classify(x);
    const size = Math.max(1, ...result.y.map(Math.abs));
    result.y.forEach((y, d) => (distance = Math.max(distance, Math.abs(y - Number(places[i][d])) / size)));
    result.proba.forEach((p, k) => (proba = Math.max(proba, Math.abs(p - Number(answers[i][1 + k])))));
    different += model.classes[result.label] !== answers[i][0] || result.winner !== Number(answers[i][1 + c]);
  });
  const good = distance <= 1e-5 && proba <= 1e-5 && different === 0;
  failed += !good;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name}: embedding within ${distance.toExponential(1)}, probabilities within ${proba.toExponential(1)}, ${different} labels or nearest references differ`);
}
process.exit(failed ? 1 : 0);
