// The columns of a table and the inputs that they become, as src/data/frame/encode.c computes them.
// A value is a number (also booleans 0 and 1, and dates in days since 1970-01-01) or the text of a
// category; null: missing. OTHER stands for every text that is not a category.

export const OTHER = { other: true };

const DAY = 86400000; // ms

// list: "columns" of the metadata of a model. Adds the first input and the number of inputs.
export function layoutColumns(list) {
  let first = 0;
  return list.map((column) => {
    const values = column.type === 'category' ? (column.categories || []).length + (column.other ? 1 : 0) : column.type === 'date' ? (column.time ? 7 : 5) : 1;
    const inputs = (column.constant ? 0 : values) + (column.missing ? 1 : 0);
    first += inputs;
    return { offset: 0, categories: [], ...column, first: first - inputs, inputs };
  });
}

// The day of the year of a date, from 0.
function yearDay(day) {
  const january = new Date(0);
  january.setUTCFullYear(new Date(day * DAY).getUTCFullYear(), 0, 1);
  return day - january.getTime() / DAY;
}

function putAngle(x, at, turn) {
  x[at] = Math.fround(Math.sin(2 * Math.PI * turn));
  x[at + 1] = Math.fround(Math.cos(2 * Math.PI * turn));
}

function encodeDate(column, days, x) {
  const at = column.first;
  x[at] = Math.fround((days === null ? column.fill : days) - column.offset);
  if (days === null) return;
  const day = Math.floor(days);
  putAngle(x, at + 1, yearDay(day) / 365.25);
  putAngle(x, at + 3, ((((day + 3) % 7) + 7) % 7) / 7); // 1970-01-01 was a Thursday; Monday is 0
  if (column.time) putAngle(x, at + 5, days - day);
}

// The inputs of a row: values has one entry per column.
export function encodeRow(columns, values) {
  const last = columns.at(-1);
  const x = new Float64Array(last.first + last.inputs);
  columns.forEach((column, j) => {
    const value = values[j];
    if (column.missing) x[column.first + column.inputs - 1] = value === null ? 1 : 0;
    if (column.constant) return;
    if (column.type === 'category') {
      const k = value === null ? -1 : column.categories.indexOf(value);
      if (k >= 0) x[column.first + k] = 1;
      else if (value !== null && column.other) x[column.first + column.categories.length] = 1;
    } else if (column.type === 'date') encodeDate(column, value, x);
    else x[column.first] = Math.fround((value === null ? (column.fill ?? column.offset) : value) - column.offset);
  });
  return x;
}

// The first input has a date in single precision, so the time follows from its angle.
function decodeDate(column, x) {
  const days = x[column.first] + column.offset;
  const turn = column.time ? (Math.atan2(x[column.first + 5], x[column.first + 6]) / (2 * Math.PI) + 1) % 1 : 0;
  return Math.round(days - turn) + turn;
}

// The values of the row that became the inputs x.
export function decodeRow(columns, x) {
  return columns.map((column) => {
    if (column.constant || (column.missing && x[column.first + column.inputs - 1] === 1)) return null;
    if (column.type === 'date') return decodeDate(column, x);
    if (column.type !== 'category') return x[column.first] + column.offset;
    const k = x.slice(column.first, column.first + column.inputs).indexOf(1);
    return k >= 0 && k < column.categories.length ? column.categories[k] : k >= 0 || column.missing ? OTHER : null;
  });
}

// A date in days: "2024-02-29" or "2024-02-29T23:59"; null: no date.
export function daysOf(text) {
  const ms = text ? Date.parse(`${text.replace(' ', 'T')}${/\d:\d/.test(text) ? '' : 'T00:00'}Z`) : NaN;
  return Number.isNaN(ms) ? null : ms / DAY;
}

export const dateText = (days, time) => new Date(Math.round(days * 1440) * 60000).toISOString().slice(0, time ? 16 : 10);

// A number for display, rounded to about six digits of its distance from the offset of the column.
export function numberText(column, value) {
  const size = Math.abs(value - column.offset);
  return String(Number(value.toFixed(Math.max(0, Math.min(12, 6 - Math.ceil(Math.log10(size || 1)))))));
}

export function valueText(column, value) {
  if (value === null) return '–';
  if (value === OTHER) return '(other)';
  if (column.type === 'category') return value;
  if (column.type === 'boolean') return value ? 'yes' : 'no';
  if (column.type === 'date') return dateText(value, column.time).replace('T', ' ');
  return numberText(column, value);
}
