// The user chooses a function, a block of the function, and a run. The rest of the page follows this choice.
import "./page.css";
import {
  countText,
  edgeLabel,
  element,
  heatOf,
  percentText,
  Picture,
  placeText,
  prepared,
  ranOf,
  ratioText,
} from "./picture";
import type { Contents, Graph } from "./data";
import { Source } from "./source";

// The elements that page.html has.
const byId = <Kind extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as Kind;
const contents = JSON.parse(byId("contents").textContent!) as Contents;
const { runs, functions } = contents;
const chosen = { index: -1, run: 0, block: 0 };
let shown: { graphs: (Graph | null)[]; pictures: (Picture | null)[] } = { graphs: [], pictures: [] };

const graphOf = (number) =>
  number === null || number === undefined ? null : prepared(JSON.parse(byId("graph" + number).textContent));
const heatOfRow = (row) => Math.max(...row.instructions.map((ran) => ran || 0));
const totalRan = runs.map((_, i) => functions.reduce((sum, row) => sum + (row.instructions[i] || 0), 0));

const source = new Source(byId("source"), contents.sources, (perRun) => {
  // Chooses the hottest block of the line. If the user asks again, chooses the next block.
  const run = perRun[chosen.run]?.length ? chosen.run : perRun.findIndex((ids) => ids.length > 0);
  const graph = shown.graphs[run],
    ids = perRun[run].sort((a, b) => ranOf(graph.blocks[b - 1]) - ranOf(graph.blocks[a - 1]));
  const next = run === chosen.run ? ids[(ids.indexOf(chosen.block) + 1) % ids.length] : ids[0];
  chooseBlock(run, next, { keepSource: true });
});

// This part shows the list of functions.

// Returns the last two parts of a name, without return type and arguments: "vector<…>::at". The tooltip shows the whole
// name.
function shortName(name) {
  let short = "",
    depth = 0;
  const isOperator = () => /\boperator\s*[<>=-]*$/.test(short);
  for (let i = 0; i < name.length; ++i) {
    const letter = name[i];
    if (letter === "<" && !isOperator() && ++depth === 1) short += "<…>";
    else if (letter === ">" && depth > 0) --depth;
    else if (depth === 0) {
      if (letter === "(" && !/\boperator$/.test(short) && !name.startsWith("(anonymous namespace)", i)) break;
      short += letter;
      if (letter === " " && !/\boperator /.test(short) && !short.endsWith("anonymous ")) short = "";
    }
  }
  return short.split("::").slice(-2).join("::") || name;
}

const rows = functions.map((row, i) => {
  const heat = heatOfRow(row),
    run = Math.max(
      0,
      row.instructions.findIndex((ran) => ran === heat && ran !== null),
    );
  const isInBoth = runs.length > 1 && row.instructions.every((ran) => ran !== null);
  const facts = isInBoth
    ? ratioText(row.instructions[0], row.instructions[1])
    : runs.length > 1
      ? run === 0
        ? "only first"
        : "only second"
      : heat > 0
        ? percentText(heat, totalRan[0])
        : "never";
  return element(
    "li",
    {
      role: "option",
      id: "function" + i,
      "aria-selected": "false",
      title: row.name,
      class: heat > 0 ? null : "never",
      style: `--heat:${heatOf(heat, heatOfRow(functions[0])).toFixed(3)};--share:${(heat / (totalRan[run] || 1)).toFixed(4)}`,
    },
    element("span", { class: "label" }, shortName(row.name)),
    element("span", { class: "share" }, facts),
    isInBoth && !row.matched ? element("span", { class: "mark", title: "the graphs differ" }, "≠") : null,
  );
});

let visible = rows;

function search() {
  const words = byId<HTMLInputElement>("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  visible = rows.filter((row, i) => {
    const name = functions[i].name.toLowerCase();
    row.hidden = !words.every((word) => name.includes(word));
    return !row.hidden;
  });
  const ran = functions.filter((row) => heatOfRow(row) > 0).length;
  byId("found").textContent =
    words.length > 0 ? `${visible.length} of ${rows.length} functions` : `${rows.length} functions, ${ran} ran`;
}

// This part shows the chosen function.

function fact(name, value) {
  return [element("dt", {}, name), element("dd", {}, value)];
}

// Says what a kernel does with the memory of an argument that is an address.
function argumentText({ number, reads, writes, begin, end }) {
  const uses = [reads && "read", writes && "written"].filter(Boolean).join(" and ") || "not used";
  return `${number} ${uses}` + (begin === null ? "" : `, bytes ${begin} to ${end}`);
}

function showFacts(row) {
  const { graphs } = shown,
    any = graphs.find(Boolean);
  byId("name").textContent = row.name;
  byId("name").title = row.name;
  const both = (text) => graphs.map((graph) => (graph ? text(graph) : "–")).join(" → ");
  const ratio = (a, b) => (graphs.length > 1 && graphs.every(Boolean) ? " " + ratioText(a, b) : "");
  const same = (text) => (new Set(graphs.filter(Boolean).map(text)).size === 1 ? text(any) : both(text));
  byId("facts").replaceChildren(
    ...fact("calls", both((graph) => countText(graph.calls)) + ratio(graphs[0]?.calls, graphs[1]?.calls)),
    ...fact("instructions", both((graph) => countText(graph.total)) + ratio(graphs[0]?.total, graphs[1]?.total)),
    ...fact(
      "blocks",
      same((graph) => String(graph.blocks.length)),
    ),
    ...fact(
      "edges",
      same((graph) => String(graph.edges.length)),
    ),
    ...fact(
      "mode",
      same((graph) => graph.mode + (graph.scale === 1 ? "" : ` ×${graph.scale}`)),
    ),
    ...(any.arguments.length > 0
      ? fact(
          "arguments",
          same((graph) => graph.arguments.map(argumentText).join(" · ")),
        )
      : []),
    ...fact(
      "graph",
      same((graph) => graph.hash),
    ),
  );
  const note = byId("note");
  note.hidden = true;
  if (graphs.length > 1 && !row.matched) {
    note.hidden = false;
    note.textContent = graphs.every(Boolean)
      ? "The graphs differ: another source, compiler or option made other blocks. They stand side by side; blocks and edges are not matched."
      : `This function was counted in the ${graphs[0] ? "first" : "second"} run only.`;
  }
}

function chooseFunction(index, { block = 0, run = -1, isRestored = false } = {}) {
  if (!functions[index]) return;
  rows[chosen.index]?.setAttribute("aria-selected", "false");
  rows[index].setAttribute("aria-selected", "true");
  byId("functions").setAttribute("aria-activedescendant", rows[index].id);
  rows[index].scrollIntoView({ block: "nearest" });
  chosen.index = index;
  const row = functions[index],
    graphs = row.graphs.map(graphOf);
  const pictures = graphs.map(
    (graph, i) => graph && new Picture(graph, i > 0 && row.matched ? graphs[0] : null, (id) => chooseBlock(i, id)),
  );
  shown = { graphs, pictures };
  byId("panes").replaceChildren(
    ...pictures.map((picture, i) => {
      const pane = element("section", { class: "pane", "aria-label": "Graph, " + runs[i] });
      if (runs.length > 1) pane.append(element("h3", { title: runs[i] }, element("bdi", { dir: "ltr" }, runs[i])));
      pane.append(picture ? picture.scroller : element("p", { class: "missing" }, "Not counted in this run."));
      return pane;
    }),
  );
  showFacts(row);
  source.show(graphs);
  const first = graphs.findIndex(Boolean);
  chosen.run = graphs[run] ? run : first;
  const graph = graphs[chosen.run],
    id = block > 0 && block <= graph.blocks.length ? block : graph.hottest;
  for (const picture of pictures.filter(Boolean)) picture.fit(0.72);
  chooseBlock(chosen.run, id, { isFirst: true });
  if (row.matched) scrollTogether(pictures);
  if (!isRestored) byId("search").blur();
}

// Equal graphs have equal layouts, so both pictures show the same part of the graph.
function scrollTogether([first, second]: Picture[]) {
  const follow = (from, to) =>
    from.scroller.addEventListener(
      "scroll",
      () => {
        const { scrollLeft, scrollTop } = from.scroller;
        if (Math.abs(to.scroller.scrollLeft - scrollLeft) > 1 || Math.abs(to.scroller.scrollTop - scrollTop) > 1)
          to.scroller.scrollTo(scrollLeft, scrollTop);
      },
      { passive: true },
    );
  follow(first, second);
  follow(second, first);
}

function chooseBlock(run, id, { keepSource = false, isFirst = false } = {}) {
  Object.assign(chosen, { run, block: id });
  const isMatched = functions[chosen.index].matched;
  shown.pictures.forEach((picture, i) => picture?.select(i === run || isMatched ? id : 0, !isFirst));
  if (isFirst) {
    // Shows the graph from the top, if the block is visible then.
    const picture = shown.pictures[run];
    const { blocks, left } = picture.layout;
    picture.scroller.scrollTo((blocks[0].x - left) * picture.scale - picture.scroller.clientWidth / 2, 0);
    picture.show(id);
    shown.pictures.forEach(
      (other, i) =>
        i !== run && other && other.scroller.scrollTo(picture.scroller.scrollLeft, picture.scroller.scrollTop),
    );
  }
  showDetail(run, id, isMatched);
  if (keepSource) markOnly(run, id);
  else source.mark(shown.graphs[run].blocks[id - 1]);
  history.replaceState(null, "", `#f=${chosen.index}&b=${id}${run > 0 ? "&r=" + run : ""}`);
}

function markOnly(run, id) {
  const top = byId("source").scrollTop;
  source.mark(shown.graphs[run].blocks[id - 1]);
  byId("source").scrollTop = top;
}

// This part shows the chosen block.

function classBar(block) {
  const bar = element("div", { class: "bar", "aria-hidden": "true" }),
    list = element("ul", { class: "classes" });
  for (const [name, count] of Object.entries(block.classes)) {
    if (count === 0) continue;
    bar.append(element("span", { class: name, style: `flex-grow:${count}`, title: `${count} ${name}` }));
    list.append(element("li", {}, element("i", { class: name }), `${count} ${name}`));
  }
  return [bar, list];
}

function edgeList(title, graph, twin, indexes, end) {
  const list = element("ul", { class: "edges" });
  for (const i of indexes) {
    const edge = graph.edges[i];
    const whole = graph.blocks[edge.from - 1].count,
      share = percentText(edge.count, whole);
    const facts = [
      edge.kind !== "branch" && (edge.kind === "switch" ? `case ${edge.value}` : edge.kind),
      edge.state !== "measured" && edge.state !== "derived" && edge.state,
    ]
      .filter(Boolean)
      .join(", ");
    const button = element(
      "button",
      { type: "button", title: edgeLabel(graph, edge), class: edge.count === null ? "unknown" : null },
      element("span", {}, `${end === "to" ? "→" : "←"} ${edge[end]}`),
      element("small", {}, facts),
      element("b", {}, countText(edge.count)),
      element("span", {}, twin ? ratioText(twin.edges[i].count, edge.count) : share),
    );
    button.addEventListener("click", () => {
      chooseBlock(chosen.run, edge[end]);
      byId("detail").querySelector<HTMLElement>("h3")?.focus();
    });
    list.append(element("li", {}, button));
  }
  return indexes.length > 0 ? [element("div", {}, element("h4", {}, title), list)] : [];
}

function showDetail(run, id, isMatched) {
  const graph = shown.graphs[run],
    block = graph.blocks[id - 1];
  const before = isMatched && run > 0 ? shown.graphs[0] : null,
    twin = before?.blocks[id - 1];
  const known = block.count !== null;
  byId("detail").replaceChildren(
    element(
      "h3",
      { tabindex: -1 },
      `Block ${id}`,
      element("span", { title: block.file }, placeText(block) || "no line known"),
      runs.length > 1 ? element("em", {}, run === 0 ? "first run" : "second run") : null,
    ),
    element(
      "dl",
      { class: "numbers" },
      ...fact(
        "ran",
        (known ? countText(block.count) : "? (no count)") + (twin ? " " + ratioText(twin.count, block.count) : ""),
      ),
      ...fact("of the function", known ? percentText(ranOf(block), graph.total) || "0%" : "?"),
      ...fact("depth", String(block.depth)),
      ...fact("loads", block.loaded_bytes + " B"),
      ...fact("stores", block.stored_bytes + " B"),
    ),
    element("h4", {}, `${block.instructions} instructions`),
    ...classBar(block),
    ...(block.ir ? [element("pre", { class: "ir", tabindex: 0, "aria-label": "IR" }, block.ir)] : []),
    element(
      "div",
      { class: "ends" },
      ...edgeList("From", graph, before, graph.into[id - 1], "from"),
      ...edgeList("To", graph, before, graph.outOf[id - 1], "to"),
    ),
  );
}

// This part handles keys and the mouse.

function zoom(step) {
  const pictures = shown.pictures.filter(Boolean);
  for (const picture of pictures) {
    if (step === 0) picture.fit();
    else picture.zoomTo(picture.scale * (step > 0 ? 1.25 : 0.8));
    if (step !== 0 && picture.selected > 0) picture.show(picture.selected, true);
  }
}

function moveInList(step) {
  const at = visible.indexOf(rows[chosen.index]);
  const next = visible[Math.max(0, Math.min(visible.length - 1, at < 0 ? 0 : at + step))];
  if (next) chooseFunction(rows.indexOf(next), { isRestored: true });
}

byId("functions").append(...rows);
byId("functions").addEventListener("click", (event) => {
  const row = (event.target as Element).closest("li");
  if (row) chooseFunction(rows.indexOf(row));
});
byId("functions").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  moveInList(step);
});
byId("search").addEventListener("input", search);
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && visible.length > 0) chooseFunction(rows.indexOf(visible[0]));
  else if (event.key !== "ArrowDown") return;
  event.preventDefault();
  byId("functions").focus();
});
byId("zoom").addEventListener("click", (event) => {
  const button = (event.target as Element).closest<HTMLElement>("[data-zoom]");
  if (button) zoom(Number(button.dataset.zoom));
});
byId("help").addEventListener("click", () => byId<HTMLDialogElement>("keys").showModal());
document.addEventListener("keydown", (event) => {
  const isTyping = (event.target as Element).matches("input");
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || byId<HTMLDialogElement>("keys").open) return;
  const action = {
    "/": () => byId<HTMLInputElement>("search").select(),
    "?": () => byId<HTMLDialogElement>("keys").showModal(),
    f: () => byId("functions").focus(),
    g: () => shown.pictures[chosen.run]?.focus(),
    s: () => byId("source").querySelector<HTMLElement>(".line[tabindex='0']")?.focus(),
    "+": () => zoom(1),
    "=": () => zoom(1),
    "-": () => zoom(-1),
    "0": () => zoom(0),
  }[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

byId("runs").append(...runs.map((run) => element("li", { title: run }, element("bdi", { dir: "ltr" }, run))));
search();
function restore() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const index = Number(wanted.get("f")) || 0,
    block = Number(wanted.get("b")) || 0,
    run = Number(wanted.get("r")) || 0;
  chooseFunction(functions[index] ? index : 0, { block, run, isRestored: true });
}
window.addEventListener("hashchange", restore);
restore();
