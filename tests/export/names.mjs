// Class names with quotes, newlines, backslashes, trigraphs, format characters and other alphabets
// survive every export. Node finds onnxruntime-node in NODE_PATH.
//
// usage: node names.mjs     in an empty folder
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const names = ['a "quoted" name', 'back\\slash\\n', 'two\nlines', 'tri ??/ ??= graph', '*/ comment /*', '%s @ %d', '</script>`${x}`', "it's 7\u0001\t7", '\u65e5\u672c \ud83c\udf89 gr\u00fcn \u2028'];
const quote = (text) => `"${text.replaceAll('"', '""')}"`;
const rows = Array.from({ length: 270 }, (_, i) => [i % 9, (i * 7919) % 31, quote(names[i % 9])].join(','));
writeFileSync('t.csv', `a,b,label\n${rows.join('\n')}\n`);
run('enhope', 'train', '--data', 't.csv', '--label', 'label', '--n-epochs', '2', '--quiet', '-o', 'm.safetensors');
for (const format of ['c', 'js', 'json', 'onnx']) run('enhope', 'export', 'm.safetensors', '-o', `m.${format}`, '--check', 't.csv');

let failed = 0;
function compare(format, found) {
  const good = JSON.stringify([...found].sort()) === JSON.stringify([...names].sort());
  failed += !good;
  console.log(good ? `ok     ${format}` : `FAILED ${format}: ${JSON.stringify(found)}`);
}

writeFileSync('main.c', '#include <stdio.h>\n#include "m.h"\nint main(void) { for (int k = 0; k < m_CLASSES; k++) { fputs(m_class_name[k], stdout); putchar(0); } return 0; }\n');
for (const [compiler, ...flags] of [['gcc', '-std=c99', '-trigraphs'], ['g++', '-x', 'c++', '-std=c++11', '-trigraphs']]) {
  run(compiler, ...flags, '-Wall', '-Wextra', '-Werror', '-pedantic', '-o', 'main', 'm.c', 'main.c');
  compare(`C, ${compiler}`, run('./main').split('\0').slice(0, -1));
}
copyFileSync('m.js', 'm.mjs');
compare('JavaScript', (await import(pathToFileURL('m.mjs'))).classes);
compare('JSON', JSON.parse(readFileSync('m.json', 'utf8')).classes);
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const session = await ort.InferenceSession.create('m.onnx');
const x = Float32Array.from({ length: 2000 }, (_, i) => (i % 2 ? (i * 7919) % 31 : (i / 2) % 9));
const { label } = await session.run({ input: new ort.Tensor('float32', x, [1000, 2]) });
const unknown = [...new Set(label.data)].filter((name) => !names.includes(name));
failed += unknown.length || label.type !== 'string' ? 1 : 0;
console.log(unknown.length ? `FAILED ONNX: ${JSON.stringify(unknown)}` : 'ok     ONNX');
process.exit(failed ? 1 : 0);
