// Call paths as a flame graph: native calls and Python's calls together.
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { placeOf, type FlameNode, type Frame, type PageData } from "./data";
import type { View } from "./main";
import { bytesText, choice, countText, element, shareText } from "./text";

type Of = "peak" | "leaks" | "allocated";
const CHOICES: Record<Of, string> = { peak: "alive at the peak", leaks: "leaked", allocated: "ever allocated" };
type Weight = "bytes" | "blocks";
const WEIGHTS: Record<Weight, string> = { bytes: "bytes", blocks: "blocks" };
const LEVEL_PX = 20;
const SMALL = "(small paths)";
const SHOWN_PARTS = 2000; // calls with less than 1/2000 of all bytes are one call, as in analysis/page

export interface Call {
  name: string;
  value: number; // decides the width: the bytes, or the number of blocks
  bytes: number;
  count: number;
  children: Call[];
  where: string;
  python: boolean;
}

const blocksText = (count: number) => `${countText(count)} blocks`;

function callOf(frames: Frame[], weight: Weight, [number, bytes, count, calls]: FlameNode): Call {
  const frame = frames[number];
  const where = frame ? placeOf(frame) : "";
  const name = !frame ? SMALL : frame.python ? `${frame.text} (${where.split("/").pop()})` : frame.text;
  return {
    name,
    value: weight === "bytes" ? bytes : count,
    bytes,
    count,
    where,
    python: frame?.python ?? false,
    children: calls.map((call) => callOf(frames, weight, call)),
  };
}

type Sums = Pick<Call, "value" | "bytes" | "count">;
const NOTHING: Sums = { value: 0, bytes: 0, count: 0 };

function plus(a: Sums, b: Sums, sign = 1): Sums {
  return { value: a.value + sign * b.value, bytes: a.bytes + sign * b.bytes, count: a.count + sign * b.count };
}

interface Path {
  calls: Call[]; // the allocating call first
  sums: Sums;
}

// Returns the path of each block in the tree.
function pathsOf(root: Call): Path[] {
  const paths: Path[] = [];
  const outer: Call[] = [];
  const walk = (call: Call) => {
    const sums = call.children.reduce<Sums>((left, child) => plus(left, child, -1), call);
    if (sums.value > 0 && outer.length) paths.push({ calls: [...outer].reverse(), sums });
    for (const child of call.children) {
      outer.push(child);
      walk(child);
      outer.pop();
    }
  };
  walk(root);
  return paths;
}

// Returns the calls at this depth of the paths. Calls with less than the value `least` are one call.
function groupsOf(paths: Path[], depth: number, least: number): Call[] {
  const groups = new Map<string, Path[]>();
  for (const path of paths) {
    const call = path.calls[depth];
    if (!call) continue;
    const key = `${call.name}\n${call.where}`;
    const group = groups.get(key);
    if (group) group.push(path);
    else groups.set(key, [path]);
  }
  let small = NOTHING;
  const calls: Call[] = [];
  for (const group of groups.values()) {
    const all = group.reduce((sum, { sums }) => plus(sum, sums), NOTHING);
    if (all.value < least) small = plus(small, all);
    else calls.push({ ...group[0].calls[depth], ...all, children: groupsOf(group, depth + 1, least) });
  }
  return small.value ? [...calls, { ...small, name: SMALL, children: [], where: "", python: false }] : calls;
}

// Returns the same blocks from the allocating call outwards.
export function inverted(root: Call): Call {
  return { ...root, children: groupsOf(pathsOf(root), 0, root.value / SHOWN_PARTS) };
}

function depthOf(call: Call): number {
  return 1 + call.children.reduce((most, child) => Math.max(most, depthOf(child)), 0);
}

// Warm colors for native calls, cold ones for Python's. The name decides the shade, so equal calls look alike.
export function colorOf(name: string, python: boolean): string {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 997;
  return `hsl(${(python ? 195 : 20) + (hash % 30)} 65% ${68 + (hash % 12)}%)`;
}

export interface Drawn {
  root: Call;
  total: number;
  icicle: boolean; // the root is at the top
  find: string;
  text?: (value: number) => string; // of a call's value; without it, values are bytes
}

// Draws the graph below the controls. A click or the Enter key zooms into a call.
export function drawGraph(place: HTMLElement, { root, total, icicle, find, text = bytesText }: Drawn): void {
  const about = element("p", { class: "quiet", "aria-live": "polite" });
  const graph = element("div", { class: "graph" });
  const input = element("input", {
    type: "search",
    placeholder: "find a name or a file",
    "aria-label": "Find",
    value: find,
  });
  const found = element("span", { class: "quiet", "data-found": "" });
  place.append(element("p", { class: "buttons" }, input, found), graph, about);
  const describe = (call: Call) =>
    `${call.name}: ${bytesText(call.bytes)} in ${blocksText(call.count)} (${shareText(call.value, total)}) ${call.where}`;
  const chart = flamegraph<Call>()
    .width(graph.clientWidth)
    .cellHeight(LEVEL_PX)
    .inverted(icicle)
    .minFrameSize(4)
    .sort((a, b) => b.data.value - a.data.value)
    .transitionDuration(0)
    .tooltip(false)
    .getName((node) => node.data.name)
    .setColorMapper((node) => (node.highlight ? "hsl(300 80% 70%)" : colorOf(node.data.name, node.data.python)))
    .setLabelHandler((node) => describe(node.data))
    .setDetailsHandler((details) => (about.textContent = details))
    .setSearchMatch((node, term) => `${node.data.name} ${node.data.where}`.toLowerCase().includes(term.toLowerCase()));
  select(graph).datum(root).call(chart);
  let has_marks = false; // to remove them, all calls are drawn again
  const search = () => {
    if (input.value) chart.search(input.value);
    else if (has_marks) chart.clear();
    has_marks = input.value !== "";
    found.textContent = input.value ? ` ${text(sumOf(root, input.value))} of ${text(total)}` : "";
  };
  input.addEventListener("input", search);
  search();
  about.textContent = describe(root);
}

// The value of the outermost calls that match.
function sumOf(call: Call, term: string): number {
  if (`${call.name} ${call.where}`.toLowerCase().includes(term.toLowerCase())) return call.value;
  return call.children.reduce((sum, child) => sum + sumOf(child, term), 0);
}

function rootOf(data: PageData, of: Of, weight: Weight): Call {
  return { ...callOf(data.frames, weight, data.flames[of].root), name: `All ${CHOICES[of]}`, where: "" };
}

export function showFlame({ data, place, settings, go }: View): void {
  const asked = settings.get("of") ?? "";
  const of: Of = asked in CHOICES ? (asked as Of) : "peak";
  const from = settings.get("from") === "callee" ? "callee" : "caller";
  const weight = settings.get("weight") === "blocks" ? "blocks" : "bytes";
  const find = settings.get("find") ?? "";
  const shown = { of, from, weight, find };
  place.append(
    element("h2", {}, "Flame graph"),
    element(
      "p",
      { class: "buttons" },
      choice("Blocks", CHOICES, of, (next) => go("flame", { ...shown, of: next })),
      choice("Width", WEIGHTS, weight, (next) => go("flame", { ...shown, weight: next })),
      choice("From", { caller: "the outermost call", callee: "the allocating call" }, from, (next) =>
        go("flame", { ...shown, from: next }),
      ),
    ),
  );
  const { bytes, count } = data.flames[of];
  place.append(
    element("p", { "data-value": String(bytes), "data-total": of }, `${bytesText(bytes)} in ${blocksText(count)}`),
  );
  if (!bytes) return;
  const root = rootOf(data, of, weight);
  drawGraph(place, {
    root: from === "callee" ? inverted(root) : root,
    total: root.value,
    icicle: depthOf(root) > 12 || from === "callee",
    find,
    text: weight === "bytes" ? bytesText : blocksText,
  });
}
