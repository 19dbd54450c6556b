// Shows the lines in which a function's blocks begin, the lines around them, and how often they ran.
import type { Graph, Source as SourceText } from "./data";
import { largest } from "./layout";
import { baseName, element, heatOf, percentText, ranOf } from "./picture";

const sourceWords = new Set(
  (
    "alignas alignof asm auto bool break case catch char class concept const consteval constexpr const_cast continue " +
    "co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit extern false float for friend goto if " +
    "inline int long mutable namespace new noexcept nullptr operator private protected public register reinterpret_cast requires return " +
    "short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename " +
    "union unsigned using virtual void volatile while __global__ __device__ __shared__ __kernel __global __local restrict"
  ).split(" "),
);
const sourceTokens =
  /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(^\s*#\s*\w+)|(\b\d[\w.']*)|([A-Za-z_]\w*)/g;

// Returns a line as nodes. `state` says whether a comment continues from the line before.
function coloured(line, state) {
  const nodes = [];
  let done = 0;
  const take = (end: number, kind = "") => {
    const text = line.slice(done, end);
    if (text) nodes.push(kind ? element("span", { class: kind }, text) : text);
    done = end;
  };
  if (state.inComment) {
    const end = line.indexOf("*/");
    state.inComment = end < 0;
    take(end < 0 ? line.length : end + 2, "comment");
  }
  const from = done;
  for (const match of line.slice(from).matchAll(sourceTokens)) {
    const [text, comment, string, directive, number] = match;
    const kind = comment
      ? "comment"
      : string
        ? "string"
        : directive || sourceWords.has(text)
          ? "word"
          : number
            ? "literal"
            : "";
    take(from + match.index);
    take(from + match.index + text.length, kind);
    if (comment && comment.startsWith("/*") && !(comment.length > 3 && comment.endsWith("*/"))) state.inComment = true;
  }
  take(line.length);
  return nodes;
}

// Returns the ranges of lines that are shown. They are not larger than the ranges that source_excerpts.cpp takes from
// the file.
function rangesAround(numbers) {
  const ranges = [];
  for (const number of numbers) {
    const range = ranges[ranges.length - 1];
    if (range && number - 6 <= range.last + 60) range.last = number + 10;
    else ranges.push({ first: number - 6, last: number + 10 });
  }
  return ranges;
}

// Returns by file and line the blocks that begin there, and how many instructions of the blocks ran, for each graph.
function linesOf(graphs: (Graph | null)[]) {
  const files = new Map();
  graphs.forEach((graph, run) => {
    if (!graph) return;
    for (const block of graph.blocks) {
      if (!block.line || !block.file) continue;
      const lines = files.get(block.file) || files.set(block.file, new Map()).get(block.file);
      const line = lines.get(block.line) || lines.set(block.line, { ran: [0, 0], blocks: [[], []] }).get(block.line);
      line.ran[run] += ranOf(block);
      line.blocks[run].push(block.id);
    }
  });
  return files;
}

export class Source {
  sources: Map<string, SourceText>;
  rows = new Map<string, HTMLElement>(); // by file and line
  totals: number[] = []; // by run: instructions that ran
  runs = 0;
  most = 0;

  constructor(
    readonly place: HTMLElement,
    sources: SourceText[],
    readonly onSelect: (blocks: number[][]) => void,
  ) {
    this.sources = new Map(sources.map((source) => [source.file, source]));
    place.addEventListener("click", (event) =>
      this.chosen((event.target as Element).closest<HTMLElement>(".line[data-blocks]")),
    );
    place.addEventListener("keydown", (event) => this.key(event));
  }

  // `graphs` has the shown graph of each run, or null.
  show(graphs) {
    const files = linesOf(graphs),
      any = graphs.find(Boolean);
    if (any.file && !files.has(any.file)) files.set(any.file, new Map());
    const ranIn = (lines) => [...lines.values()].reduce((sum, line) => sum + line.ran[0] + line.ran[1], 0);
    const order = [...files].sort(
      (a, b) => Number(b[0] === any.file) - Number(a[0] === any.file) || ranIn(b[1]) - ranIn(a[1]),
    );
    this.rows.clear();
    this.totals = graphs.map((graph) => (graph ? graph.total : 0));
    this.runs = graphs.length;
    this.most = largest(order.flatMap(([, lines]) => [...lines.values()].map((line) => Math.max(...line.ran))));
    this.place.replaceChildren(...order.map(([file, lines]) => this.fileOf(file, lines, any)));
    if (order.length === 0)
      this.place.append(
        element(
          "p",
          { class: "missing" },
          "No block of this function names a line: build it with -g to see its source here.",
        ),
      );
    this.place.scrollTop = 0;
    const first = this.place.querySelector(".line[data-blocks]");
    first?.setAttribute("tabindex", "0");
  }

  fileOf(file, lines, graph) {
    const source = this.sources.get(file);
    const ran = [...lines.values()].reduce((sum, line) => sum + line.ran[0], 0);
    const box = element(
      "details",
      { open: true },
      element(
        "summary",
        { title: file },
        element("b", {}, baseName(file)),
        element("span", {}, percentText(ran, this.totals[0])),
      ),
    );
    if (!source || source.missing)
      box.append(element("p", { class: "missing" }, "No source: " + (source ? source.missing : file)));
    if (source?.changed)
      box.append(element("p", { class: "missing" }, "This file was written after the run: lines may have moved."));
    box.append(...this.partsOf(source, lines, file === graph.file ? graph.line : 0, file));
    return box;
  }

  // Returns the function's part of a file's lines: its own lines and the lines around them.
  partsOf(source, lines, start, file) {
    const numbers = [...lines.keys(), ...(start ? [start] : [])].sort((a, b) => a - b);
    const ranges = rangesAround(numbers),
      rows = [];
    let last = 0,
      next = 0;
    const code = element("div", { class: "code" });
    for (const part of source?.parts || []) {
      const state = { inComment: false };
      part.lines.forEach((text, i) => {
        const number = part.first + i,
          nodes = coloured(text, state);
        while (next < ranges.length && ranges[next].last < number) ++next;
        if (next === ranges.length || number < ranges[next].first) return;
        if (last > 0 && number > last + 1) rows.push(this.gapOf(number - last - 1));
        rows.push(this.rowOf(number, nodes, lines.get(number), file, number === start));
        last = number;
      });
    }
    // Lines without text also get rows, so that the user can see their heat and choose them.
    if (rows.length === 0)
      for (const number of lines.keys()) rows.push(this.rowOf(number, [], lines.get(number), file, false));
    code.append(...rows);
    return [code];
  }

  gapOf(count) {
    const cells = this.totals.map(() => element("span"));
    return element(
      "div",
      { class: "line gap" },
      element("span", { class: "number" }, "⋯"),
      ...cells,
      element("code", {}, `${count} lines`),
    );
  }

  rowOf(number, text, line, file, isStart) {
    const row = element(
      "div",
      { class: "line" + (isStart ? " start" : "") },
      element("span", { class: "number" }, String(number)),
    );
    for (let run = 0; run < this.runs; ++run) {
      const share = line && line.blocks[run].length > 0 ? percentText(line.ran[run], this.totals[run]) || "0%" : "";
      row.append(
        element(
          "span",
          {
            class: "heat",
            style: line && line.ran[run] > 0 ? `--heat:${heatOf(line.ran[run], this.most).toFixed(3)}` : null,
          },
          share,
        ),
      );
    }
    row.append(element("code", {}, ...text));
    if (line && line.blocks.some((blocks) => blocks.length > 0)) {
      row.dataset.blocks = JSON.stringify(line.blocks);
      row.setAttribute("tabindex", "-1");
      row.setAttribute("role", "button");
      const ids = [...new Set(line.blocks.flat())];
      row.setAttribute(
        "aria-label",
        `line ${number}, ${ids.length === 1 ? "block" : "blocks"} ${ids.slice(0, 8).join(", ")}, ${percentText(line.ran[0], this.totals[0]) || "0%"}`,
      );
      row.title = `${ids.length === 1 ? "block" : "blocks"} ${ids.slice(0, 20).join(", ")}`;
      this.rows.set(file + ":" + number, row);
    }
    return row;
  }

  chosen(row) {
    if (row) this.onSelect(JSON.parse(row.dataset.blocks));
  }

  key(event) {
    const row = event.target.closest?.(".line[data-blocks]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.place.querySelectorAll(".line[data-blocks]")],
      at = rows.indexOf(row);
    const next = {
      ArrowDown: rows[at + 1],
      ArrowUp: rows[at - 1],
      Home: rows[0],
      End: rows[rows.length - 1],
      Enter: row,
      " ": row,
    }[event.key];
    if (!next) return;
    event.preventDefault();
    this.chosen(next);
    next.focus({ preventScroll: true });
  }

  mark(block) {
    for (const row of this.place.querySelectorAll(".line[tabindex='0']")) row.setAttribute("tabindex", "-1");
    this.place.querySelector(".line.selected")?.classList.remove("selected");
    const row = block && this.rows.get(block.file + ":" + block.line);
    if (!row) return;
    row.classList.add("selected");
    row.setAttribute("tabindex", "0");
    row.closest("details").open = true;
    // Scrolls only this part of the page, because scrollIntoView() would also move the page.
    const box = this.place.getBoundingClientRect(),
      { top, bottom } = row.getBoundingClientRect();
    if (top < box.top + 40 || bottom > box.bottom - 20) this.place.scrollTop += top - box.top - box.height / 3;
  }
}
