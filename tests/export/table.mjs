// Prints a table as CSV: columns of all types, missing values, rare categories and categories with
// odd letters. The classes follow from the columns.
//
// usage: node table.mjs ROWS plain|dates [SEED]
export function makeTable(rows, dates, seed = 7) {
  let state = seed;
  const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const pad = (n) => String(n).padStart(2, '0');
  const colors = [['red', 'blue "x"'], ['blue "x"', 'gr\u00fcn\\??/'], ['gr\u00fcn\\??/', 'gr,ey']];
  const header = ['size', 'color', 'member', 'mass', ...(dates ? ['seen', 'born'] : []), 'quality'];
  const table = [header];
  for (let i = 0; i < rows; i++) {
    const k = i % 3;
    const day = `${1960 + 30 * k + Math.floor(9 * random())}-${pick(['02-28', '03-01', '12-31', '01-01', '07-15'])}`;
    const time = `${pad(Math.floor(24 * random()))}:${pad(Math.floor(60 * random()))}`;
    table.push([
      random() < 0.1 ? '' : (20 * k + 9 * random()).toFixed(2),
      random() < 0.05 ? '' : random() < 0.03 ? pick(['a', 'b', 'c', 'd', 'e', 'f']) : pick(colors[k]),
      pick(['yes', 'no']),
      (1e9 + 4 * k + 3 * random()).toFixed(3),
      ...(dates ? [`${day} ${time}`, random() < 0.1 ? '' : day] : []),
      ['bad', 'fair', 'good'][k],
    ]);
  }
  return table;
}

export const csv = (table) => table.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')).join('\n') + '\n';

if (process.argv[1]?.endsWith('table.mjs')) process.stdout.write(csv(makeTable(Number(process.argv[2]), process.argv[3] === 'dates')));
