// Encodes rows of a table with the code of exported C and JavaScript, and compares the labels and
// probabilities with those of the command.
//
// usage: node tables.mjs TABLE.MJS     in an empty folder
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { makeTable, csv } = await import(pathToFileURL(process.argv[2]));
const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

const table = makeTable(900, true);
const others = makeTable(300, true, 11).map((row) => row.slice(0, -1));
writeFileSync('table.csv', csv(table));
writeFileSync('others.csv', csv(others));
run('enhope', 'train', '--data', 'table.csv', '--label', 'quality', '--n-epochs', '3', '--quiet', '-o', 'm.safetensors');
const answers = run('enhope', 'predict', 'm.safetensors', '--data', 'others.csv', '--label', 'none', '--proba')
  .trim().split('\n').slice(1).map((line) => line.split(',').slice(1));
const [header, ...rows] = others;

let failed = 0;
function compare(name, labels, probabilities) {
  let [difference, different] = [0, 0];
  answers.forEach(([label, ...p], i) => {
    different += label !== labels[i];
    p.forEach((value, k) => (difference = Math.max(difference, Math.abs(Number(value) - probabilities[i][k]))));
  });
  const good = labels.length === rows.length && different === 0 && difference < 1e-5;
  failed += !good;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name}: ${different} of ${labels.length} labels differ, probabilities within ${difference.toExponential(1)}`);
}

// JavaScript: rows as objects of texts, as arrays, and with numbers and dates.
run('enhope', 'export', 'm.safetensors', '-o', 'm.js');
copyFileSync('m.js', 'm.mjs');
const model = await import(pathToFileURL('m.mjs'));
const objects = rows.map((row) => Object.fromEntries(header.map((name, j) => [name, row[j]])));
const typed = objects.map((row) => ({
  ...row,
  size: row.size === '' ? null : Number(row.size),
  member: row.member === 'yes',
  mass: Number(row.mass),
  seen: new Date(`${row.seen.replace(' ', 'T')}Z`),
  color: row.color === '' ? undefined : row.color,
}));
for (const [name, list] of Object.entries({ objects, arrays: rows, typed })) {
  const inputs = list.map(model.encode);
  compare(`JavaScript, ${name}`, inputs.map(model.predict), inputs.map(model.proba));
}
for (const [what, row] of [['a word', { ...objects[0], mass: 'heavy' }], ['no value', { ...objects[0], seen: 'soon' }]])
  try {
    model.encode(row);
    failed++;
    console.log(`FAILED JavaScript accepted ${what}`);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }

// Numbers with separators of thousands, and without.
const people = Array.from({ length: 40 }, (_, i) => `"${1 + (i % 5)},${100 + i}",${i % 2 ? 'few' : 'many'}`);
writeFileSync('people.csv', ['people,kind', ...people, '90,few'].join('\n'));
run('enhope', 'train', '--data', 'people.csv', '--n-epochs', '3', '--quiet', '-o', 'people.safetensors');
run('enhope', 'export', 'people.safetensors', '-o', 'people.js');
copyFileSync('people.js', 'people.mjs');
const { encode } = await import(pathToFileURL('people.mjs'));
const numbers = ['2,345', '2345', 2345].map((value) => encode({ people: value })[0]);
if (numbers.some((value) => value !== 2345)) {
  failed++;
  console.log(`FAILED JavaScript reads 2,345 as ${numbers}`);
}

// C: the rows become initializers.
run('enhope', 'export', 'm.safetensors', '-o', 'm.c');
const days = (text) => (text === '' ? 'NAN' : `${Date.parse(`${text.replace(' ', 'T')}${text.includes(':') ? '' : 'T00:00'}Z`)} / 86400000.0`);
const letters = (text) => `"${[...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`;
const initializers = rows.map(([size, color, member, mass, seen, born]) =>
  `{${size || 'NAN'}, ${color ? letters(color) : '0'}, ${Number(member === 'yes')}, ${mass}, ${days(seen)}, ${days(born)}}`);
writeFileSync('main.c', `#include <math.h>
#include <stdio.h>
#include "m.h"
static const m_row rows[] = {${initializers.join(',\n')}};
int main(void) {
    for (int i = 0; i < ${rows.length}; i++) {
        float x[m_INPUTS], p[m_CLASSES];
        if (m_encode(&rows[i], x)) return 1;
        const int label = m_proba(x, p);
        printf("%s,%.9g,%.9g,%.9g\\n", m_class_name[label], p[0], p[1], p[2]);
    }
    m_row odd = rows[0];
    float x[m_INPUTS];
    odd.col_mass = INFINITY;
    return m_encode(&odd, x) != -1;
}
`);
for (const [compiler, ...flags] of [['cc', '-std=c99'], ['g++', '-x', 'c++']]) {
  run(compiler, ...flags, '-Wall', '-Wextra', '-Werror', '-pedantic', '-o', 'main', 'm.c', 'main.c', '-lm');
  const lines = run('./main').trim().split('\n').map((line) => line.split(','));
  compare(`C, ${compiler}`, lines.map(([label]) => label), lines.map((line) => line.slice(1).map(Number)));
}
process.exit(failed ? 1 : 0);
