// The largest blocks as bars from their allocation to their free. Bars that live at the same time are in different rows.
import type { PageData, Table } from "./data";
import type { View } from "./main";
import { colorOf } from "./flame";
import { svgElement } from "./svg";
import { bytesText, element, timeText } from "./text";
import { tableOfData } from "./table";

const ROW_PX = 16;

interface Bar {
  place: string;
  heap: string;
  bytes: number;
  begin_ns: number;
  end_ns: number;
  freed: boolean;
  first_use_ns: number | null;
  last_use_ns: number | null;
}

export function blocksOf(data: PageData): Table | undefined {
  return data.tables.find(({ name }) => name === "largest_blocks");
}

function barsOf({ rows }: Table): Bar[] {
  return rows.map(([place, heap, bytes, begin_ns, end_ns, freed, first_use_ns, last_use_ns]) => ({
    place,
    heap,
    bytes,
    begin_ns,
    end_ns,
    freed: freed === "yes",
    first_use_ns,
    last_use_ns,
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
  const uses =
    bar.first_use_ns === null || bar.last_use_ns === null
      ? ""
      : `, used from ${timeText(bar.first_use_ns)} to ${timeText(bar.last_use_ns)}`;
  return `${bytesText(bar.bytes)} of ${bar.heap}, from ${timeText(bar.begin_ns)} ${end}${uses}: ${bar.place}`;
}

function draw(bars: Bar[], duration_ns: number, width: number, say: (bar: Bar) => void): SVGElement {
  const rows = rowsOf(bars);
  const height = ROW_PX * (1 + rows.reduce((a, b) => Math.max(a, b), 0));
  const svg = svgElement("svg", { width, height });
  const between = (begin_ns: number, end_ns: number) => ({
    x: (begin_ns / duration_ns) * width,
    width: Math.max(1, ((end_ns - begin_ns) / duration_ns) * width),
  });
  bars.forEach((bar, at) => {
    const y = rows[at] * ROW_PX;
    const rect = svgElement(
      "rect",
      {
        ...between(bar.begin_ns, bar.end_ns),
        y,
        height: ROW_PX - 2,
        fill: colorOf(bar.place, bar.place.includes(".py:")),
        stroke: bar.freed ? "none" : "currentColor",
      },
      textOf(bar),
    );
    rect.addEventListener("mouseenter", () => say(bar));
    svg.append(rect);
    if (bar.first_use_ns !== null && bar.last_use_ns !== null) {
      const used = between(bar.first_use_ns, bar.last_use_ns);
      svg.append(svgElement("line", { x1: used.x, x2: used.x + used.width, y1: y + 11, y2: y + 11, class: "used" }));
    }
  });
  return svg;
}

export function showBlocks({ data, place }: View): void {
  const table = blocksOf(data)!;
  const bars = barsOf(table);
  const about = element(
    "p",
    { class: "quiet", "aria-live": "polite" },
    "Point at a bar to read about its block. Blocks with a frame were never freed. A line in a bar goes from the first use of the block to the last one.",
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
