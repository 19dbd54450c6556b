// The largest blocks as bars from their allocation to their free. Bars that live at the same time are in different rows.
import type { PageData, Table } from "./data";
import type { View } from "./main";
import { colorOf } from "./flame";
import { bytesText, element, timeText } from "./text";
import { tableOfData } from "./table";

const ROW_PX = 16;
const SVG = "http://www.w3.org/2000/svg";

interface Bar {
  place: string;
  heap: string;
  bytes: number;
  begin_ns: number;
  end_ns: number;
  freed: boolean;
}

export function blocksOf(data: PageData): Table | undefined {
  return data.tables.find(({ name }) => name === "largest_blocks");
}

function barsOf({ rows }: Table): Bar[] {
  return rows.map(([place, heap, bytes, begin_ns, end_ns, freed]) => ({
    place,
    heap,
    bytes,
    begin_ns,
    end_ns,
    freed: freed === "yes",
  })) as Bar[];
}

// Returns each bar's row: the first one that is free at its begin.
export function rowsOf(bars: Pick<Bar, "begin_ns" | "end_ns">[]): number[] {
  const ends: number[] = [];
  const rows: number[] = [];
  const order = bars.map((_, at) => at).sort((a, b) => bars[a].begin_ns - bars[b].begin_ns);
  for (const at of order) {
    let row = ends.findIndex((end_ns) => end_ns <= bars[at].begin_ns);
    if (row < 0) row = ends.push(0) - 1;
    ends[row] = bars[at].end_ns;
    rows[at] = row;
  }
  return rows;
}

function textOf(bar: Bar): string {
  const end = bar.freed ? `to ${timeText(bar.end_ns)}` : `to the end (${timeText(bar.end_ns)})`;
  return `${bytesText(bar.bytes)} of ${bar.heap}, from ${timeText(bar.begin_ns)} ${end}: ${bar.place}`;
}

function draw(bars: Bar[], duration_ns: number, width: number, say: (bar: Bar) => void): SVGSVGElement {
  const rows = rowsOf(bars);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(ROW_PX * (1 + rows.reduce((a, b) => Math.max(a, b), 0))));
  bars.forEach((bar, at) => {
    const rect = document.createElementNS(SVG, "rect");
    const x = (bar.begin_ns / duration_ns) * width;
    const values = {
      x,
      y: rows[at] * ROW_PX,
      width: Math.max(1, ((bar.end_ns - bar.begin_ns) / duration_ns) * width),
      height: ROW_PX - 2,
    };
    for (const [key, value] of Object.entries(values)) rect.setAttribute(key, String(value));
    rect.setAttribute("fill", colorOf(bar.place, bar.place.includes(".py:")));
    rect.setAttribute("stroke", bar.freed ? "none" : "currentColor");
    const title = document.createElementNS(SVG, "title");
    title.textContent = textOf(bar);
    rect.append(title);
    rect.addEventListener("mouseenter", () => say(bar));
    svg.append(rect);
  });
  return svg;
}

export function showBlocks({ data, place }: View): void {
  const table = blocksOf(data)!;
  const bars = barsOf(table);
  const about = element(
    "p",
    { class: "quiet", "aria-live": "polite" },
    "Point at a bar to read about its block. Blocks with a frame were never freed.",
  );
  const chart = element("div", {
    class: "chart blocks",
    role: "img",
    "aria-label": "The largest blocks over time; the table below has the numbers",
  });
  place.append(element("h2", {}, `The ${bars.length} largest blocks`), chart, about);
  chart.append(
    draw(bars, Math.max(data.duration_ns, 1), chart.clientWidth, (bar) => (about.textContent = textOf(bar))),
  );
  place.append(tableOfData(table));
}
