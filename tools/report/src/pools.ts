// The segments of pools at the peak of their heap, from their first byte to their last: what is used, and by which place.
import type { CellRun, Pools, Segment } from "./data";
import { colorOf } from "./flame";
import type { View } from "./main";
import { bytesText, countText, element } from "./text";
import { svgElement } from "./svg";
import { tableOf } from "./table";

const ROW_PX = 22;
const LEAST_PX = 60; // width of a segment

const cellsOf = (segment: Segment) => segment.runs.reduce((sum, [cells]) => sum + cells, 0);

// The segment with the most free bytes is the most fragmented one.
export const freeBytes = (segment: Segment) => segment.bytes - segment.used_bytes;

function textOf({ places }: Pools, segment: Segment, [cells, used_bytes, place]: CellRun, first: number): string {
  const begin = Math.floor((segment.bytes * first) / cellsOf(segment));
  const bytes = Math.floor((segment.bytes * (first + cells)) / cellsOf(segment)) - begin;
  const used =
    used_bytes === 0
      ? "nothing is used"
      : `${bytesText(used_bytes)} used, ${used_bytes < bytes ? "most of them" : "all"} by ${places[place]}`;
  return `Segment ${segment.address}, ${bytesText(bytes)} from ${bytesText(begin)} on: ${used}`;
}

function drawSegment(
  pools: Pools,
  segment: Segment,
  at: number,
  width: number,
  say: (text: string) => void,
): SVGElement {
  const cells = cellsOf(segment);
  const y = at * ROW_PX;
  const group = svgElement("g", {});
  let first = 0;
  for (const run of segment.runs) {
    const [count, used_bytes, place] = run;
    const share = used_bytes / ((segment.bytes * count) / cells);
    const text = textOf(pools, segment, run, first);
    const rect = svgElement(
      "rect",
      {
        x: (first / cells) * width,
        y,
        width: (count / cells) * width,
        height: ROW_PX - 6,
        fill: used_bytes ? colorOf(pools.places[place], pools.places[place].includes(".py:")) : "transparent",
        "fill-opacity": used_bytes ? Math.min(1, 0.25 + 0.75 * share).toFixed(2) : 1,
      },
      text,
    );
    rect.addEventListener("mouseenter", () => say(text));
    group.append(rect);
    first += count;
  }
  group.append(svgElement("rect", { x: 0, y, width, height: ROW_PX - 6, fill: "none", stroke: "currentColor" }));
  return group;
}

function draw(pools: Pools, width: number, say: (text: string) => void): SVGElement {
  const { segments } = pools;
  const most = segments.reduce((max, { bytes }) => Math.max(max, bytes), 1);
  const svg = svgElement("svg", { width, height: ROW_PX * segments.length });
  segments.forEach((segment, at) => {
    const part = Math.max(LEAST_PX, Math.floor((segment.bytes / most) * (width - 2)));
    svg.append(drawSegment(pools, segment, at, Math.min(part, width - 2), say));
  });
  return svg;
}

export function showPools({ data, place }: View): void {
  const pools = data.pools;
  place.append(element("h2", {}, "Pools at the peak of their heap"));
  if (!pools?.segments.length) {
    place.append(element("p", {}, "This run has no segments of pools."));
    return;
  }
  const { segments, segments_in_all } = pools;
  const used = segments.reduce((sum, segment) => sum + segment.used_bytes, 0);
  const free = segments.reduce((sum, segment) => sum + freeBytes(segment), 0);
  const which =
    segments.length < segments_in_all
      ? `The ${segments.length} largest of ${countText(segments_in_all)}`
      : countText(segments.length);
  place.append(
    element(
      "p",
      { "data-used": String(used), "data-free": String(free) },
      `${which} segments: ${bytesText(used)} used, ${bytesText(free)} free. Each bar is a segment, in the order of addresses; empty parts are free.`,
    ),
  );
  const about = element("p", { class: "quiet", "aria-live": "polite" }, "Point at a part to read about it.");
  const chart = element("div", {
    class: "chart blocks",
    role: "img",
    "aria-label": "The segments of pools by address; the table below has the numbers",
  });
  place.append(chart, about);
  chart.append(draw(pools, chart.clientWidth, (text) => (about.textContent = text)));
  place.append(
    tableOf({
      caption: "Segments",
      columns: [
        { name: "address", unit: "text" },
        { name: "heap", unit: "text" },
        { name: "process", unit: "text" },
        { name: "bytes", unit: "bytes" },
        { name: "used", unit: "bytes" },
        { name: "free", unit: "bytes" },
        { name: "allocated_by", unit: "place" },
      ],
      rows: segments.map((segment) => [
        segment.address,
        segment.heap === "host" ? segment.heap : `${segment.heap} ${segment.device}`,
        `pid ${segment.pid}`,
        segment.bytes,
        segment.used_bytes,
        freeBytes(segment),
        pools.places[segment.place],
      ]),
    }),
  );
}
