// Call paths as a flame graph: native calls and Python's calls together.
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { placeOf, type FlameNode, type Frame, type PageData } from "./data";
import type { View } from "./main";
import { bytesText, choice, countText, element, shareText } from "./text";

type Of = "peak" | "leaks";
const CHOICES: Record<Of, string> = { peak: "alive at the peak", leaks: "leaked" };
const MOST_LEVELS_PX = 20;

export interface Call {
  name: string;
  value: number;
  count: number;
  children: Call[];
  where: string;
  python: boolean;
}

function callOf(frames: Frame[], [number, bytes, count, calls]: FlameNode): Call {
  const frame = frames[number];
  const where = frame ? placeOf(frame) : "";
  const name = !frame ? "(small paths)" : frame.python ? `${frame.text} (${where.split("/").pop()})` : frame.text;
  return {
    name,
    value: bytes,
    count,
    where,
    python: frame?.python ?? false,
    children: calls.map((call) => callOf(frames, call)),
  };
}

// Returns the same blocks from the allocating call outwards.
export function inverted(root: Call): Call {
  const top: Call = { ...root, children: [] };
  const add = (path: Call[], bytes: number, count: number) => {
    let at = top;
    for (const call of [...path].reverse()) {
      let next = at.children.find(({ name, where }) => name === call.name && where === call.where);
      if (!next) at.children.push((next = { ...call, value: 0, count: 0, children: [] }));
      next.value += bytes;
      next.count += count;
      at = next;
    }
  };
  const walk = (call: Call, path: Call[]) => {
    const below = call.children.reduce((sum, child) => sum + child.value, 0);
    const count = call.children.reduce((sum, child) => sum + child.count, 0);
    if (path.length && call.value > below) add(path, call.value - below, call.count - count);
    call.children.forEach((child) => walk(child, [...path, child]));
  };
  walk(root, []);
  return top;
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
}

// Draws the graph below the controls. A click or the Enter key zooms into a call.
export function drawGraph(place: HTMLElement, { root, total, icicle, find }: Drawn): void {
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
    `${call.name}: ${bytesText(call.value)} (${shareText(call.value, total)}), ${countText(call.count)} blocks ${call.where}`;
  const chart = flamegraph<Call>()
    .width(graph.clientWidth)
    .cellHeight(MOST_LEVELS_PX)
    .inverted(icicle)
    .minFrameSize(1)
    .sort((a, b) => b.data.value - a.data.value)
    .transitionDuration(0)
    .tooltip(false)
    .getName((node) => node.data.name)
    .setColorMapper((node) => (node.highlight ? "hsl(300 80% 70%)" : colorOf(node.data.name, node.data.python)))
    .setLabelHandler((node) => describe(node.data))
    .setDetailsHandler((text) => (about.textContent = text))
    .setSearchMatch((node, term) => `${node.data.name} ${node.data.where}`.toLowerCase().includes(term.toLowerCase()));
  select(graph).datum(root).call(chart);
  const search = () => {
    if (input.value) chart.search(input.value);
    else chart.clear();
    found.textContent = input.value ? ` ${bytesText(sumOf(root, input.value))} of ${bytesText(total)}` : "";
  };
  input.addEventListener("input", search);
  search();
  about.textContent = describe(root);
}

// The bytes of the outermost calls that match.
function sumOf(call: Call, term: string): number {
  if (`${call.name} ${call.where}`.toLowerCase().includes(term.toLowerCase())) return call.value;
  return call.children.reduce((sum, child) => sum + sumOf(child, term), 0);
}

function rootOf(data: PageData, of: Of): Call {
  return { ...callOf(data.frames, data.flames[of].root), name: `All ${CHOICES[of]}`, where: "" };
}

export function showFlame({ data, place, settings, go }: View): void {
  const of: Of = settings.get("of") === "leaks" ? "leaks" : "peak";
  const from = settings.get("from") === "callee" ? "callee" : "caller";
  const find = settings.get("find") ?? "";
  place.append(
    element("h2", {}, "Flame graph"),
    element(
      "p",
      { class: "buttons" },
      choice("Bytes", CHOICES, of, (next) => go("flame", { of: next, from, find })),
      choice("From", { caller: "the outermost call", callee: "the allocating call" }, from, (next) =>
        go("flame", { of, from: next, find }),
      ),
    ),
  );
  const { bytes, count } = data.flames[of];
  place.append(
    element(
      "p",
      { "data-value": String(bytes), "data-total": of },
      `${bytesText(bytes)} in ${countText(count)} blocks`,
    ),
  );
  if (!bytes) return;
  const root = rootOf(data, of);
  drawGraph(place, {
    root: from === "callee" ? inverted(root) : root,
    total: bytes,
    icicle: depthOf(root) > 12 || from === "callee",
    find,
  });
}
