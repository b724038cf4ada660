// The cost of the model: bytes of its file, and the time of a prediction in this browser.

// Seconds of one call of model.classify, or of model.embed if the model does not classify: the shortest mean of several rounds, because clocks of
// browsers have coarse steps and other tasks interrupt. Samples are the exemplars, or a row without
// zeros, which is as slow as any.
export function latency(model, classifies, k, now = () => performance.now()) {
  const ROUNDS = 5;
  const MILLISECONDS = 10; // of a round, at least
  const rows = Array.from({ length: model.exemplars }, (_, j) => model.exemplar(j));
  if (!rows.length) rows.push(new Float64Array(model.inputs).fill(0.5));
  const call = classifies ? (x) => model.classify(x, k) : model.embed;
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = now();
    let calls = 0;
    while (now() - start < MILLISECONDS) call(rows[calls++ % rows.length]);
    best = Math.min(best, (now() - start) / calls);
  }
  return best / 1000;
}

// A number of at most 1,000 units and its unit, as the command prints sizes.
function inUnits(value, units) {
  let i = 0;
  for (; value >= 999.5 && i + 1 < units.length; i++) value /= 1000;
  return `${value >= 99.95 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1)} ${units[i]}`;
}

export const sizeText = (bytes) => inUnits(bytes, ['bytes', 'kB', 'MB', 'GB']);
export const timeText = (seconds) => inUnits(seconds * 1e6, ['µs', 'ms', 's']);
