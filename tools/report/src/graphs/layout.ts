// Computes where the page draws the blocks and edges of a graph. The graph is drawn in layers from the top down, as in
// Sugiyama, Tagawa, Toda (1981).
//
// Blocks are numbered in reverse post order, so an edge to a higher number goes down. An edge to a lower number or the
// same number is a way back. A block's layer is the length of its longest way from the top. A long edge passes each
// layer between its ends in a slot. All edges to one block share their slots. So there are at most as many slots as
// blocks times layers, and not as edges times layers.
import type { Edge, Graph, Layout } from "./data";

// Math.max(...values) accepts only a limited number of values.
export const largest = (values: number[], least = 0): number =>
  values.reduce((most, value) => (value > most ? value : most), least);

const layerGap = 46,
  slotWidth = 14,
  itemGap = 26,
  loopRoom = 30;
export const labelGap = 6;

// `labels` are the widths of the edges' texts. Returns {left, width, height, blocks: [{x, y, …}] (the middles of
// blocks), edges: [{path, arrow: [x, y], label: [x, y], side}]}. `side` says on which side of the line the label
// stands. With side 0, the label stands on the line.
export function layoutOf(graph: Graph, blockWidth: number, blockHeight: number, labels: number[]): Layout {
  const layers = layersOf(graph);
  const plan = planOf(graph, layers, blockWidth);
  orderLayers(plan);
  placeItems(plan);
  straighten(plan);
  straighten(plan);
  return drawingOf(graph, layers, plan, blockHeight, labels);
}

function layersOf(graph: Graph): Int32Array {
  const layers = new Int32Array(graph.blocks.length);
  const ways = graph.edges.filter((edge) => edge.to > edge.from).sort((a, b) => a.from - b.from);
  for (const { from, to } of ways) layers[to - 1] = Math.max(layers[to - 1], layers[from - 1] + 1);
  return layers;
}

// Whether the edge is drawn as a way back. In a damaged table, an edge to a lower number may still go down.
const goesUp = (edge: Edge, layers: Int32Array) => edge.to < edge.from && layers[edge.to - 1] <= layers[edge.from - 1];

// Items are the blocks, by number - 1, and then the slots. A route lists the items of an edge from its source to its
// target.
function planOf(graph, layers, blockWidth) {
  const items = graph.blocks.map((_, i) => ({
    layer: layers[i],
    width: blockWidth,
    x: 0,
    at: 0,
    up: [],
    down: [],
    beside: -1,
  }));
  for (const { from, to } of graph.edges)
    if (from === to) Object.assign(items[from - 1], { width: blockWidth + 2 * loopRoom, loops: true });
  const chains = new Map(),
    links = new Map();
  const slotOf = (key, layer) => {
    const chain = chains.get(key) || chains.set(key, new Map()).get(key);
    if (!chain.has(layer)) {
      chain.set(layer, items.length);
      items.push({ layer, width: slotWidth, x: 0, at: 0, up: [], down: [], beside: -1 });
    }
    return chain.get(layer);
  };
  const link = (above, below, weight) => {
    const name = above + "-" + below;
    if (links.has(name)) links.get(name).weight += weight;
    else links.set(name, { above, below, weight });
  };
  const most = largest(
    graph.edges.map((edge) => edge.count || 0),
    1,
  );
  const routes = graph.edges.map((edge) => {
    const from = edge.from - 1,
      to = edge.to - 1;
    if (from === to) return [from, to];
    // Edges that run often are drawn straight.
    const weight = 1 + (3 * Math.log1p(edge.count || 0)) / Math.log1p(most);
    const isBack = goesUp(edge, layers);
    const top = isBack ? layers[to] : layers[from] + 1,
      bottom = isBack ? layers[from] : layers[to] - 1;
    const passed = [];
    for (let layer = top; layer <= bottom; ++layer) passed.push(slotOf((isBack ? "back" : "to") + to, layer));
    for (let i = 1; i < passed.length; ++i) link(passed[i - 1], passed[i], 6);
    if (isBack) {
      if (items[passed[0]].beside < 0) items[passed[0]].beside = to;
      if (items[passed[passed.length - 1]].beside < 0) items[passed[passed.length - 1]].beside = from;
      return [from, ...passed.reverse(), to];
    }
    const route = [from, ...passed, to];
    if (passed.length === 0) link(from, to, weight);
    else {
      link(from, passed[0], weight);
      link(passed[passed.length - 1], to, weight);
    }
    return route;
  });
  for (const { above, below, weight } of links.values()) {
    items[above].down.push({ item: below, weight });
    items[below].up.push({ item: above, weight });
  }
  const rows = [];
  items.forEach((item, i) => (rows[item.layer] ||= []).push(i));
  const inOrder = (chain) => [...chain].sort((a, b) => a[0] - b[0]).map(([, item]) => item);
  return { items, rows, routes, chains: [...chains.values()].map(inOrder) };
}

// Orders the items of each layer so that few links cross. Sweeps down and up move each item near the middle of its
// linked items.
function orderLayers({ items, rows }) {
  const number = (row) => row.forEach((item, i) => (items[item].at = i));
  rows.forEach(number);
  const sweep = (row, side) => {
    const keys = new Map();
    for (const i of row) {
      const links = items[i][side];
      let sum = 0,
        weights = 0;
      for (const { item, weight } of links) {
        sum += items[item].at * weight;
        weights += weight;
      }
      keys.set(i, weights > 0 ? sum / weights : items[i].at);
    }
    for (const i of row) // The end of a way back stays beside its block.
      if (items[i].beside >= 0 && keys.has(items[i].beside) && items[i][side].length === 0)
        keys.set(i, keys.get(items[i].beside) + 0.01);
    row.sort((a, b) => keys.get(a) - keys.get(b) || items[a].at - items[b].at);
    number(row);
  };
  let best = rows.map((row) => row.slice()),
    fewest = crossingsOf(items, rows);
  const rounds = items.length > 6000 ? 4 : 10;
  for (let round = 0; round < rounds && fewest > 0; ++round) {
    if (round % 2 === 0) for (let i = 1; i < rows.length; ++i) sweep(rows[i], "up");
    else for (let i = rows.length - 2; i >= 0; --i) sweep(rows[i], "down");
    const crossings = crossingsOf(items, rows);
    if (crossings < fewest) {
      fewest = crossings;
      best = rows.map((row) => row.slice());
    }
  }
  best.forEach((row, i) => {
    rows[i] = row;
    number(row);
  });
}

// Counts the crossings of links between neighbouring layers. Crossings are inversions, and a tree of sums counts them.
function crossingsOf(items, rows) {
  let crossings = 0;
  for (let layer = 1; layer < rows.length; ++layer) {
    const size = rows[layer - 1].length,
      sums = new Float64Array(size + 1);
    let before = 0;
    for (const below of rows[layer]) {
      const ends = items[below].up.map(({ item }) => items[item].at);
      for (const end of ends) {
        let notRight = 0;
        for (let i = end + 1; i > 0; i -= i & -i) notRight += sums[i];
        crossings += before - notRight;
      }
      for (const end of ends) {
        for (let i = end + 1; i <= size; i += i & -i) ++sums[i];
        ++before;
      }
    }
  }
  return crossings;
}

function roomBetween(left, right) {
  const gap = left.width === slotWidth && right.width === slotWidth ? 2 : itemGap / 2;
  return (left.width + right.width) / 2 + gap;
}

// Moves the items of each layer in turn as near to their linked items as the order allows.
function placeItems({ items, rows }) {
  for (const row of rows) {
    let x = 0;
    row.forEach((i, at) => {
      if (at > 0) x += roomBetween(items[row[at - 1]], items[i]);
      items[i].x = x;
    });
    for (const i of row) items[i].x -= x / 2;
  }
  const pull = (row, sides) => {
    const wanted = [],
      weights = [];
    for (const i of row) {
      let sum = 0,
        weight = 0;
      for (const side of sides)
        for (const link of items[i][side]) {
          sum += items[link.item].x * link.weight;
          weight += link.weight;
        }
      if (items[i].beside >= 0 && items[items[i].beside].layer === items[i].layer) {
        const block = items[items[i].beside];
        sum += (block.x + Math.sign(items[i].at - block.at) * roomBetween(block, items[i])) * 2;
        weight += 2;
      }
      wanted.push(weight > 0 ? sum / weight : items[i].x);
      weights.push(weight || 0.01);
    }
    fit(row, wanted, weights, items);
  };
  const rounds = items.length > 6000 ? 3 : 10;
  for (let round = 0; round < rounds; ++round) {
    for (let i = 1; i < rows.length; ++i) pull(rows[i], ["up"]);
    for (let i = rows.length - 2; i >= 0; --i) pull(rows[i], ["down"]);
  }
  for (let round = 0; round < rounds / 2; ++round) {
    for (let i = 0; i < rows.length; ++i) pull(rows[i], ["up", "down"]);
    for (let i = rows.length - 1; i >= 0; --i) pull(rows[i], ["up", "down"]);
  }
}

// Puts the slots of each chain one above the other, as far as their neighbours leave room.
function straighten({ items, rows, chains }) {
  const roomOf = (i) => {
    const row = rows[items[i].layer],
      left = items[row[items[i].at - 1]],
      right = items[row[items[i].at + 1]];
    return [
      left ? left.x + roomBetween(left, items[i]) : -Infinity,
      right ? right.x - roomBetween(items[i], right) : Infinity,
    ];
  };
  for (const chain of chains)
    for (let first = 0, last; first < chain.length; first = last) {
      let [low, high] = roomOf(chain[first]),
        sum = items[chain[first]].x;
      for (last = first + 1; last < chain.length; ++last) {
        const [left, right] = roomOf(chain[last]);
        if (Math.max(low, left) > Math.min(high, right)) break;
        [low, high] = [Math.max(low, left), Math.min(high, right)];
        sum += items[chain[last]].x;
      }
      const x = Math.max(low, Math.min(high, sum / (last - first)));
      for (let i = first; i < last; ++i) items[chain[i]].x = x;
    }
}

// Finds positions in the given order that keep the room between items. Their weighted squared distances from the wanted
// positions have the least sum. Without the needed room, positions must not fall. Neighbours that would fall form a
// pool, and the pool stands at their mean.
function fit(row, wanted, weights, items) {
  const pools = [];
  let room = 0;
  row.forEach((i, at) => {
    if (at > 0) room += roomBetween(items[row[at - 1]], items[i]);
    let pool = { mean: wanted[at] - room, weight: weights[at], first: at, offsets: [room] };
    while (pools.length > 0 && pools[pools.length - 1].mean > pool.mean) {
      const left = pools.pop();
      const weight = left.weight + pool.weight;
      left.mean = (left.mean * left.weight + pool.mean * pool.weight) / weight;
      left.weight = weight;
      for (const offset of pool.offsets) left.offsets.push(offset);
      pool = left;
    }
    pools.push(pool);
  });
  for (const pool of pools) pool.offsets.forEach((offset, i) => (items[row[pool.first + i]].x = pool.mean + offset));
}

function drawingOf(graph, layers, { items, rows, routes }, blockHeight, labels) {
  const margin = 28;
  let left = Infinity,
    right = -Infinity;
  for (const item of items) {
    left = Math.min(left, item.x - item.width / 2);
    right = Math.max(right, item.x + item.width / 2);
  }
  // Edges that go far to the side need more height, or they would lie on the blocks.
  const tops = [];
  let y = margin;
  rows.forEach((row, layer) => {
    tops[layer] = y;
    let aside = 0;
    for (const i of row)
      for (const { item } of items[i].down) aside = Math.max(aside, Math.abs(items[item].x - items[i].x));
    y += blockHeight + layerGap + Math.min(70, aside / 9);
  });
  const bounds = (item) => [tops[item.layer], tops[item.layer] + blockHeight];
  const ports = portsOf(graph, items, routes);
  const edges = graph.edges.map((edge, i) => {
    const start = ports.from[i],
      end = ports.to[i];
    if (edge.from === edge.to) return selfLoop(items[edge.from - 1], bounds);
    const points = routes[i].map((item) => items[item]);
    const drawn = goesUp(edge, layers)
      ? wayBack(points, start, end, bounds)
      : wayDown(points, start, end, bounds, ports.isOnly[i]);
    return { side: ports.side[i], ...drawn };
  });
  const blocks = graph.blocks.map((_, i) => ({
    x: items[i].x,
    y: tops[items[i].layer] + blockHeight / 2,
    layer: items[i].layer,
    at: items[i].at,
  }));
  edges.forEach(({ label: [x], side }, i) => {
    left = Math.min(left, x - (labels[i] * (1 - side)) / 2 - labelGap);
    right = Math.max(right, x + (labels[i] * (1 + side)) / 2 + labelGap);
  });
  return { left: left - margin, width: right - left + 2 * margin, height: y - layerGap / 2, blocks, edges };
}

// Computes where edges leave and meet blocks. The ends of edges stand side by side, in the order of the edges' other
// ends.
function portsOf(graph, items, routes) {
  const ports = { from: [], to: [], side: graph.edges.map(() => 0), isOnly: [] };
  const spread = (end, blockOf, neighbourOf) => {
    const byBlock = new Map();
    graph.edges.forEach((edge, i) => {
      if (edge.from !== edge.to)
        (byBlock.get(blockOf(edge)) || byBlock.set(blockOf(edge), []).get(blockOf(edge))).push(i);
    });
    for (const [block, edges] of byBlock) {
      const { x } = items[block - 1];
      // Edges that share the slot next to the block also share their place at the block.
      const neighbours: number[] = [...new Set<number>(edges.map(neighbourOf))].sort((a, b) => items[a].x - items[b].x);
      const step = Math.min(22, (items[block - 1].width - 40) / Math.max(1, neighbours.length - 1));
      for (const i of edges) {
        const at = neighbours.indexOf(neighbourOf(i));
        if (end === "from") ports.isOnly[i] = neighbours.length === 1 && !items[block - 1].loops;
        if (end === "from" && (neighbours.length > 1 || items[block - 1].loops))
          ports.side[i] = at === 0 ? -1 : at === neighbours.length - 1 ? 1 : 0;
        ports[end][i] = x + (at - (neighbours.length - 1) / 2) * step;
      }
    }
  };
  spread(
    "from",
    (edge) => edge.from,
    (i) => routes[i][1],
  );
  spread(
    "to",
    (edge) => edge.to,
    (i) => routes[i][routes[i].length - 2],
  );
  return ports;
}

export const arrowLength = 9;
export const at = (value: number): number => Math.round(value * 10) / 10;
const curve = (x0, y0, x1, y1) => ` C${at(x0)},${at((y0 + y1) / 2)} ${at(x1)},${at((y0 + y1) / 2)} ${at(x1)},${at(y1)}`;

function wayDown(points, start, end, bounds, isOnly) {
  let x = start,
    y = bounds(points[0])[1],
    path = `M${at(x)},${at(y)}`,
    label;
  for (let i = 1; i < points.length; ++i) {
    const isLast = i === points.length - 1;
    const [top, bottom] = bounds(points[i]);
    const nextX = isLast ? end : points[i].x,
      nextY = isLast ? top - arrowLength : top;
    path += curve(x, y, nextX, nextY);
    // The last part of a curve is nearly upright, so there is room for the label beside it. A block's only edge has its
    // label in the middle.
    label ||= isOnly ? [(x + nextX) / 2, (y + nextY) / 2] : [x + (nextX - x) * 0.876, y + (nextY - y) * 0.73];
    [x, y] = [nextX, nextY];
    if (!isLast) {
      path += ` L${at(x)},${at(bottom)}`;
      y = bottom;
    }
  }
  return { path, arrow: [end, bounds(points[points.length - 1])[0]], label };
}

// Draws a way back: out at the block's bottom, up beside the blocks, and in at the target's top.
function wayBack(points, start, end, bounds) {
  const low = bounds(points[0])[1],
    high = bounds(points[points.length - 1])[0];
  const slots = points.slice(1, -1),
    turn = 30;
  let { x } = slots[0];
  let path = `M${at(start)},${at(low)} C${at(start)},${at(low + turn)} ${at(x)},${at(low + turn)} ${at(x)},${at(low)}`;
  const side = x > start ? 1 : -1,
    label = [start + 2 * side, low + turn * 0.75 + 9];
  for (let i = 0; i < slots.length; ++i) {
    const [top, bottom] = bounds(slots[i]);
    if (i > 0) path += curve(x, bounds(slots[i - 1])[0], slots[i].x, bottom);
    ({ x } = slots[i]);
    path += ` L${at(x)},${at(top)}`;
  }
  const tip = high - arrowLength;
  path += ` C${at(x)},${at(high - turn - 4)} ${at(end)},${at(high - turn - 4)} ${at(end)},${at(tip)}`;
  return { path, arrow: [end, high], label, side };
}

function selfLoop(item, bounds) {
  const [top, bottom] = bounds(item);
  const side = item.x + item.width / 2 - loopRoom,
    out = side + loopRoom * 0.8,
    inner = side - 18;
  const tip = top - arrowLength;
  return {
    path:
      `M${at(inner)},${at(bottom)} C${at(inner)},${at(bottom + 22)} ${at(out)},${at(bottom + 22)} ${at(out)},${at(bottom - 8)}` +
      ` L${at(out)},${at(top + 8)} C${at(out)},${at(top - 24)} ${at(inner)},${at(top - 24)} ${at(inner)},${at(tip)}`,
    arrow: [inner, top],
    label: [out - 8, bottom + 24],
    side: 0,
  };
}
