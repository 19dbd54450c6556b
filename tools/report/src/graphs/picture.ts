// Draws a graph as SVG, and handles the mouse and keys over the graph.
import type { Block, Edge, Graph, Layout } from "./data";
import { arrowLength, at, labelGap, largest, layoutOf } from "./layout";

const svgSpace = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS(svgSpace, name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const counts = new Intl.NumberFormat("en-US"); // kept, because making one takes ten times as long as using it

// JavaScript rounds numbers above 2^53. The text says so, and does not show them as exact.
export function countText(count) {
  if (count === null || count === undefined) return "?";
  return Number.isSafeInteger(count) ? counts.format(count) : "≈" + count.toExponential(3);
}

export function percentText(part, whole) {
  if (!(whole > 0) || part === null || part === undefined) return "";
  const percent = (100 * part) / whole;
  if (percent === 0 || percent === 100) return percent + "%";
  return percent < 0.1 ? "<0.1%" : percent > 99.9 ? ">99.9%" : percent.toFixed(1) + "%";
}

export function ratioText(before, now) {
  if (before === null || before === undefined || now === null || now === undefined) return "";
  if (before === now) return "=";
  if (before === 0) return "new";
  const ratio = now / before;
  return "×" + (ratio >= 100 ? ratio.toFixed(0) : ratio >= 0.01 ? Number(ratio.toPrecision(3)) : ratio.toPrecision(2));
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
export const placeText = (block: Block): string => (block.line ? baseName(block.file) + ":" + block.line : "");
export const ranOf = (block: Block): number => block.instructions * (block.count || 0);

// Computes once what the page needs to know about a graph.
export function prepared(graph: Graph): Graph {
  graph.total = graph.blocks.reduce((sum, block) => sum + ranOf(block), 0);
  graph.most = largest(graph.blocks.map(ranOf));
  graph.hottest =
    Math.max(
      0,
      graph.blocks.findIndex((block) => ranOf(block) === graph.most),
    ) + 1;
  graph.outOf = graph.blocks.map(() => []);
  graph.into = graph.blocks.map(() => []);
  graph.edges.forEach((edge, i) => {
    graph.outOf[edge.from - 1].push(i);
    graph.into[edge.to - 1].push(i);
  });
  return graph;
}

// Returns the heat, from 0 to 1. The square root keeps a tenth of the hottest visible.
export const heatOf = (ran: number, most: number): number => (most > 0 ? Math.sqrt(ran / most) : 0);

function blockLabel(graph: Graph, block: Block): string {
  const parts = [`block ${block.id}`, placeText(block)];
  parts.push(block.count === null ? "count not known" : `ran ${countText(block.count)} times`);
  if (graph.total > 0) parts.push(`${percentText(ranOf(block), graph.total) || "0%"} of the instructions`);
  return parts.filter(Boolean).join(", ");
}

export function edgeLabel(graph: Graph, edge: Edge): string {
  const whole = graph.blocks[edge.from - 1].count;
  const error = edge.error ? `, standard error ${countText(edge.error)}` : "";
  const state = edge.state === "measured" || edge.state === "derived" ? "" : `, ${edge.state}${error}`;
  return `${edge.name}: ${countText(edge.count)} ${percentText(edge.count, whole)}${state}`;
}

const blockHeight = 46;
// A digit of the page's small text is 7 wide.
const blockWidthOf = (graph: Graph): number =>
  Math.min(
    230,
    largest(
      graph.blocks.map(
        (block) =>
          7 * Math.max(countText(block.count).length + 8, placeText(block).length + String(block.id).length + 2) + 14,
      ),
      124,
    ),
  );

export class Picture {
  selected = 0;
  scale = 0;
  blockWidth: number;
  texts: string[];
  layout: Layout;
  svg: SVGElement;
  scroller: HTMLElement;
  edges: SVGElement[];
  blocks: SVGElement[];

  // `matched` is the same graph of the other run, whose counts are compared with this graph's counts.
  constructor(
    readonly graph: Graph,
    readonly matched: Graph | null,
    readonly onSelect: (id: number) => void,
  ) {
    this.blockWidth = blockWidthOf(graph);
    this.texts = graph.edges.map((edge, i) => this.textOf(edge, i));
    // A character of the labels is 6.2 wide.
    this.layout = layoutOf(
      graph,
      this.blockWidth,
      blockHeight,
      this.texts.map((text) => 6.2 * text.length),
    );
    this.svg = element("svg:svg", {
      viewBox: `${this.layout.left} 0 ${Math.ceil(this.layout.width)} ${Math.ceil(this.layout.height)}`,
      role: "group",
      "aria-label": `Graph of ${graph.function}`,
    });
    this.scroller = element("div", { class: "scroller" }, this.svg);
    const lines = element("svg:g"),
      labels = element("svg:g", { class: "labels", "aria-hidden": "true" });
    this.edges = graph.edges.map((edge, i) => this.drawEdge(edge, this.texts[i], this.layout.edges[i], lines, labels));
    const blocks = element("svg:g");
    this.blocks = graph.blocks.map((block, i) => {
      const drawn = this.drawBlock(block, this.layout.blocks[i]);
      blocks.append(drawn);
      return drawn;
    });
    this.svg.append(lines, labels, blocks);
    this.listen();
  }

  textOf(edge, i) {
    const { graph, matched } = this,
      share = percentText(edge.count, graph.blocks[edge.from - 1].count);
    // A block's only outgoing edge has the same count as the block.
    const isOnly = graph.outOf[edge.from - 1].length === 1;
    return (
      (edge.state === "estimated" ? "~" : "") +
      countText(edge.count) +
      (share && !isOnly ? " · " + share : "") +
      (matched ? " " + ratioText(matched.edges[i].count, edge.count) : "")
    );
  }

  drawEdge(edge, text, { path, arrow, label, side }, lines, labels) {
    const isKnown = edge.count !== null;
    const width = isKnown ? Math.min(8, 1 + 0.7 * Math.log10(1 + edge.count)) : 1.6;
    const kinds = [
      edge.to <= edge.from && "back",
      !isKnown && "unknown",
      edge.state === "estimated" && "estimated",
      edge.count === 0 && "never",
    ].filter(Boolean);
    const half = 3 + width * 0.55,
      [x, y] = arrow;
    const drawn = element(
      "svg:g",
      { class: ["edge", ...kinds].join(" "), "data-edge": edge.name },
      element("svg:title", {}, edgeLabel(this.graph, edge)),
      element("svg:path", { d: path, "stroke-width": width.toFixed(2) }),
      element("svg:path", {
        class: "arrow",
        d: `M${at(x)},${at(y)} l${at(-half)},${-arrowLength - 1} h${at(2 * half)} z`,
      }),
    );
    lines.append(drawn);
    labels.append(
      element(
        "svg:text",
        {
          x: at(label[0] + labelGap * side),
          y: at(label[1] + 4),
          "text-anchor": ["end", "middle", "start"][side + 1],
          class: ["count", ...kinds].join(" "),
        },
        text,
      ),
    );
    return drawn;
  }

  drawBlock(block, { x, y }) {
    const width = this.blockWidth,
      left = 10,
      right = width - 10;
    const ran = ranOf(block),
      kinds = ["block", block.count === null && "unknown", block.count === 0 && "never"];
    const twin = this.matched && this.matched.blocks[block.id - 1];
    const share = block.count === null ? "" : percentText(ran, this.graph.total);
    const drawn = element(
      "svg:g",
      {
        class: kinds.filter(Boolean).join(" "),
        "data-block": block.id,
        tabindex: -1,
        role: "button",
        "aria-label": blockLabel(this.graph, block),
        transform: `translate(${(x - width / 2).toFixed(1)},${(y - blockHeight / 2).toFixed(1)})`,
        style: `--heat:${heatOf(ran, this.graph.most).toFixed(3)}`,
      },
      element("svg:rect", { width, height: blockHeight, rx: 7 }),
      element("svg:text", { x: left, y: 18, class: "id" }, String(block.id)),
      element("svg:text", { x: right, y: 18, class: "place" }, placeText(block)),
      element("svg:text", { x: left, y: 36, class: "amount" }, countText(block.count)),
      element("svg:text", { x: right, y: 36, class: "share" }, twin ? ratioText(twin.count, block.count) : share),
    );
    return drawn;
  }

  listen() {
    this.svg.addEventListener("click", (event) => {
      const block = (event.target as Element).closest<SVGElement>("[data-block]");
      if (block) this.onSelect(Number(block.dataset.block));
    });
    this.svg.addEventListener("keydown", (event) => {
      const next = event.ctrlKey || event.metaKey || event.altKey ? 0 : this.neighbour(event.key);
      if (!next) return;
      event.preventDefault();
      this.onSelect(next);
      this.focus();
    });
    this.scroller.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const box = this.scroller.getBoundingClientRect();
        this.zoomTo(this.scale * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false },
    );
    let grip = null;
    this.scroller.addEventListener("pointerdown", (event) => {
      if (
        event.button === 0 &&
        event.pointerType === "mouse" &&
        !(event.target as Element).closest<SVGElement>("[data-block]")
      )
        grip = { x: event.clientX + this.scroller.scrollLeft, y: event.clientY + this.scroller.scrollTop };
    });
    this.scroller.addEventListener("pointermove", (event) => {
      if (grip && event.buttons & 1) this.scroller.scrollTo(grip.x - event.clientX, grip.y - event.clientY);
      else grip = null;
    });
  }

  // Returns the block to which a key leads from the selected block, or 0 if the key leads nowhere.
  neighbour(key) {
    const { graph, layout, selected } = this;
    const hottest = (edges, end) =>
      edges
        .map((i) => graph.edges[i])
        .filter((edge) => edge.from !== edge.to)
        .sort((a, b) => (b.count || 0) - (a.count || 0))[0]?.[end] || 0;
    const beside = (step) => {
      const here = layout.blocks[selected - 1];
      const others = layout.blocks
        .map((block, i) => ({ id: i + 1, aside: (block.at - here.at) * step, ...block }))
        .filter((block) => block.layer === here.layer && block.aside > 0)
        .sort((a, b) => a.aside - b.aside);
      return others.length > 0 ? others[0].id : 0;
    };
    const downwards = (edges) => edges.filter((i) => graph.edges[i].to > graph.edges[i].from);
    const all = selected > 0;
    switch (key) {
      case "ArrowDown":
        return all ? hottest(downwards(graph.outOf[selected - 1]), "to") : 1;
      case "ArrowUp":
        return all ? hottest(downwards(graph.into[selected - 1]), "from") : 1;
      case "ArrowLeft":
        return all ? beside(-1) : 1;
      case "ArrowRight":
        return all ? beside(1) : 1;
      case "Home":
        return 1;
      case "End":
        return graph.blocks.length;
      case "h":
        return graph.hottest;
      case "Enter":
      case " ":
        return selected;
      default:
        return 0;
    }
  }

  select(id, isSeen) {
    if (this.selected > 0) {
      this.blocks[this.selected - 1].classList.remove("selected");
      this.blocks[this.selected - 1].setAttribute("tabindex", "-1");
    }
    for (const edge of this.edges) edge.classList.remove("out", "in");
    this.selected = id;
    if (id === 0) return;
    const block = this.blocks[id - 1];
    block.classList.add("selected");
    block.setAttribute("tabindex", "0");
    for (const i of this.graph.into[id - 1]) this.edges[i].classList.add("in");
    for (const i of this.graph.outOf[id - 1]) this.edges[i].classList.add("out");
    if (isSeen) this.show(id);
  }

  focus() {
    this.blocks[(this.selected || 1) - 1].focus({ preventScroll: true });
  }

  // Scrolls to the block, but only if the block is not well inside the visible part.
  show(id, isCentred = false) {
    const { y } = this.layout.blocks[id - 1],
      { scroller, scale } = this,
      x = this.layout.blocks[id - 1].x - this.layout.left;
    const fitsIn = (value, from, size, room) => value >= from + room && value <= from + size - room;
    const isSeen =
      fitsIn(x * scale, scroller.scrollLeft, scroller.clientWidth, this.blockWidth * scale * 0.6) &&
      fitsIn(y * scale, scroller.scrollTop, scroller.clientHeight, blockHeight * scale);
    if (isCentred || !isSeen)
      scroller.scrollTo(x * scale - scroller.clientWidth / 2, y * scale - scroller.clientHeight / 2);
  }

  zoomTo(scale, x = this.scroller.clientWidth / 2, y = this.scroller.clientHeight / 2) {
    const before = this.scale || 1;
    this.scale = Math.min(2.5, Math.max(0.08, scale));
    const left = ((this.scroller.scrollLeft + x) * this.scale) / before - x,
      top = ((this.scroller.scrollTop + y) * this.scale) / before - y;
    this.svg.setAttribute("width", String(Math.ceil(this.layout.width * this.scale)));
    this.svg.setAttribute("height", String(Math.ceil(this.layout.height * this.scale)));
    this.svg.classList.toggle("far", this.scale < 0.5);
    this.scroller.scrollTo(left, top);
  }

  // Shows the whole graph, but not smaller than `leastScale`.
  fit(leastScale = 0.08) {
    const scale = Math.min(
      1,
      this.scroller.clientWidth / this.layout.width,
      this.scroller.clientHeight / this.layout.height,
    );
    this.zoomTo(Math.max(leastScale, scale));
  }
}
