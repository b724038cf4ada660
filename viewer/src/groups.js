// The groups of the points, which have the colors and the names of the map: classes, else predicted
// classes, else clusters of the map.
import { UNLABELED, about, c, names, percent } from './data.js';
import { findClusters } from './map/clusters.js';
import { typicalName, typicalTexts } from './typical.js';

const PURE = 0.5; // share of a class in a cluster that has its name

// The clusters of the positions of the model: those of findClusters and names: of each cluster, then
// of no cluster; described: longer texts.
function makeClusters(points) {
  const [x0, y0, x1, y1] = about.box;
  const u = Float32Array.from(points.x, (x) => (x * (x1 - x0)) / 65535);
  const v = Float32Array.from(points.y, (y) => (y * (y1 - y0)) / 65535);
  const found = findClusters(u, v);
  const numbers = Array.from({ length: found.count }, (_, k) => `cluster ${k + 1}`);
  return { ...found, names: [...numbers, 'no cluster'], described: numbers };
}

// The most frequent classes of each cluster: [[class, share]].
function classesOf({ of, count }, truth) {
  const tables = Array.from({ length: count }, () => new Map());
  of.forEach((k, i) => k < count && truth[i] !== UNLABELED && tables[k].set(truth[i], (tables[k].get(truth[i]) || 0) + 1));
  return tables.map((table) => {
    const total = [...table.values()].reduce((a, b) => a + b, 0);
    return [...table].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([k, size]) => [k, size / total]);
  });
}

// Numbers equal names: a, a 2, a 3.
function numbered(list) {
  const seen = new Map();
  return list.map((name) => {
    seen.set(name, (seen.get(name) || 0) + 1);
    return seen.get(name) > 1 ? `${name} ${seen.get(name)}` : name;
  });
}

// Names the clusters: by the class that most of their points have, else by what is typical of them,
// else by their numbers.
function nameClusters(clusters, points, hasLabels, samples) {
  const label = hasLabels ? classesOf(clusters, points.truth) : null;
  const typical = typicalTexts(clusters, samples);
  const labelName = ([first, second]) => (first[1] >= PURE || !second ? names[first[0]] : `${names[first[0]]} / ${names[second[0]]}`);
  const own = typical.map((texts, k) => (label && label[k].length ? labelName(label[k]) : typicalName(texts) || `cluster ${k + 1}`));
  clusters.described = own.map((name, k) => {
    const shares = label ? label[k].slice(0, 3).map(([of, share]) => `${names[of]} ${percent(share, 1, 0)}`) : [];
    return [`Cluster ${k + 1}`, shares.join(', '), typical[k].slice(0, 6).map(([text, z]) => `${text} (${z.toFixed(1)} SD)`).join(', ')].filter(Boolean).join('; ');
  });
  clusters.names = [...(label ? own : numbered(own)), 'no cluster'];
}

// {kind: 'class', 'prediction', 'cluster' or 'none', group: of each point, names: of the groups, colors:
// how many groups have a color of their own, hasLabels, labeled: predictions can be compared with labels,
// clusters(): of the map, with their names, readNames(samples): sets the names when the samples are known}
export function makeGroups(points) {
  const hasLabels = points.truth.some((k) => k !== UNLABELED);
  let clusters = null;
  let samples = null;
  const find = () => {
    if (clusters) return clusters;
    clusters = makeClusters(points);
    if (samples) nameClusters(clusters, points, hasLabels, samples);
    return clusters;
  };
  const kind = hasLabels ? 'class' : about.classifies ? 'prediction' : find().count > 1 ? 'cluster' : 'none';
  const group = { class: points.truth, prediction: points.label, none: new Uint8Array(points.x.length) }[kind] || clusters.of;
  return {
    kind, group, hasLabels, labeled: hasLabels && about.classifies, clusters: find,
    names: kind === 'none' ? ['points'] : kind === 'cluster' ? clusters.names : names,
    colors: kind === 'none' ? 1 : kind === 'cluster' ? clusters.count : c,
    readNames(of) {
      samples = of;
      if (clusters) nameClusters(clusters, points, hasLabels, samples);
      if (kind === 'cluster') this.names = clusters.names;
    },
  };
}
