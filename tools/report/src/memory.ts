// The bytes in use over time, as stacked areas, and a table of what the shown window began with, ended with and needed at most.
import uPlot from "uplot";
import type { Curve, PageData, Series, Step } from "./data";
import type { View } from "./main";
import { BYTE_TICKS, bytesText, button, choice, element, timeText } from "./text";
import { tableOf } from "./table";
import { findingBoxes, mendedBy, mendedText } from "./what_if";

type By = "account" | "owner" | "type";
const KINDS: Record<By, string> = { account: "kind of memory", owner: "owner", type: "type" };
const HEIGHT = 360;

function nameOf(curve: Curve): string {
  if (curve.others) return "others";
  if (curve.by === "account") return curve.device == null ? curve.heap! : `${curve.heap} of device ${curve.device}`;
  return curve.name ?? `no ${curve.by} known`;
}

// Neighbours differ much in hue. The sum of all others is grey.
function colorOf(curve: Curve, at: number): string {
  return curve.others ? "hsl(0 0% 60%)" : `hsl(${(at * 137.5 + 210) % 360} 55% ${at % 2 ? 45 : 60}%)`;
}

// Returns the curves on top of each other. The largest curve is at the bottom.
function stacked(curves: Curve[]): number[][] {
  const sums: number[][] = [];
  curves.forEach((curve, at) => sums.push(curve.bytes.map((bytes, moment) => bytes + (at ? sums[at - 1][moment] : 0))));
  return sums;
}

function axisColor(): string {
  return getComputedStyle(document.body).color;
}

// Draws the begin of each step, and the peak. Draws no steps if they would lie closer than 4 pixels.
function drawMarks(chart: uPlot, data: PageData, steps: Step[]): void {
  const { ctx, bbox } = chart;
  const line = (ns: number, dash: number[], text: string) => {
    const x = chart.valToPos(ns / 1e9, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = ctx.fillStyle = axisColor();
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(text, x + 3, bbox.top + 10);
    ctx.restore();
  };
  const { min = 0, max = 0 } = chart.scales.x as { min?: number; max?: number };
  const seen = steps.filter((step) => step.begin_ns / 1e9 >= min && step.begin_ns / 1e9 <= max);
  if (seen.length <= bbox.width / 4) seen.forEach((step) => line(step.begin_ns, [2, 6], seen.length < 30 ? `${step.first}` : ""));
  line(data.peak.since_start_ns, [], data.at ? data.at : "peak");
}

// Returns the numbers of the first and the last moment in the window.
function momentsIn(series: Series, begin_s: number, end_s: number): [number, number] {
  let first = series.moments.findIndex((ns) => ns / 1e9 >= begin_s);
  if (first < 0) first = series.moments.length - 1;
  let last = first;
  while (last + 1 < series.moments.length && series.moments[last + 1] / 1e9 <= end_s) ++last;
  return [first, last];
}

function windowTable(series: Series, curves: Curve[], [first, last]: [number, number]): HTMLElement {
  return tableOf({
    caption: `From ${timeText(series.moments[first])} to ${timeText(series.moments[last])}`,
    columns: [
      { name: "name", unit: "text" },
      { name: "at_its_begin", unit: "bytes" },
      { name: "at_its_end", unit: "bytes" },
      { name: "change", unit: "bytes" },
      { name: "most", unit: "bytes" },
    ],
    rows: curves.map((curve) => {
      const bytes = curve.bytes.slice(first, last + 1);
      return [nameOf(curve), bytes[0], bytes[bytes.length - 1], bytes[bytes.length - 1] - bytes[0], bytes.reduce((a, b) => Math.max(a, b), 0)];
    }),
  });
}

function legendOf(curves: Curve[], values: HTMLElement[], chosen: string | undefined): HTMLElement {
  const items = curves.map((curve, at) => {
    const mark = element("span", { class: "mark", "aria-hidden": "true" });
    mark.style.background = colorOf(curve, at);
    values.push(element("span", { class: "value" }));
    return element("li", nameOf(curve) === chosen ? { class: "chosen" } : {}, mark, nameOf(curve), " ", values[at]);
  });
  return element("ul", { class: "legend" }, ...items.reverse()); // as the areas lie, from the top
}

export function showMemory(view: View): void {
  const { data, place, settings, go } = view;
  place.append(element("h2", {}, "Memory over time"));
  const series = data.series;
  if (!series || series.moments.length < 2) {
    place.append(element("p", {}, "The run has no curves: it was too short, or the report is about one moment."));
    return;
  }
  const given = settings.get("by");
  const by: By = given === "owner" || given === "type" ? given : "account";
  const curves = series.curves.filter((curve) => curve.by === by);
  const total = series.curves.find((curve) => curve.by === "total")!;
  const sums = stacked(curves);
  const values: HTMLElement[] = [];
  const chart = element("div", { class: "chart", role: "img", "aria-label": `Bytes in use over time, by ${KINDS[by]}; the table below has the numbers` });
  const below = element("div");
  const readout = element("p", { class: "quiet", "aria-live": "polite" });
  const say = (moment: number) => {
    readout.textContent = `At ${timeText(series.moments[moment])}: ${bytesText(total.bytes[moment])} in all`;
    curves.forEach((curve, at) => (values[at].textContent = bytesText(curve.bytes[moment])));
  };

  const legend = legendOf(curves, values, settings.get("name"));
  const name = settings.get("name");
  const without = new Set((settings.get("without") ?? "").split(",").filter((id) => id));
  const goTo = (next: By, ids: Set<string>) =>
    go("memory", { by: next, ...(name && next === by ? { name } : {}), ...(ids.size ? { without: [...ids].join(",") } : {}) });
  const mended = without.size ? mendedBy(data, total.bytes, without) : null;
  const controls = element("p", { class: "buttons" }, choice("Stacked by", KINDS, by, (next) => goTo(next, without)));
  const boxes = findingBoxes(data, without, (ids) => goTo(by, ids));
  place.append(controls, ...(mended ? [mendedText(total.peak_bytes, mended)] : []), chart, readout, ...(boxes ? [boxes] : []), legend, below);
  // Areas are drawn from the highest sum to the lowest, so each covers all below it.
  const order = curves.map((_, at) => curves.length - 1 - at);
  const plot = new uPlot(
    {
      width: chart.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, max * 1.05] } },
      axes: [
        { stroke: axisColor, grid: { stroke: "#8884" }, values: (_plot, ticks) => ticks.map((s) => `${s} s`) },
        { stroke: axisColor, grid: { stroke: "#8884" }, size: 90, incrs: BYTE_TICKS, values: (_plot, ticks) => ticks.map(bytesText) },
      ],
      series: [
        {},
        ...order.map((at) => ({
          label: nameOf(curves[at]),
          stroke: "#0003",
          fill: colorOf(curves[at], at),
          width: nameOf(curves[at]) === name ? 3 : 0.5,
          points: { show: false },
        })),
        ...(mended ? [{ label: "mended", stroke: axisColor, width: 3, dash: [10, 5], points: { show: false } }] : []),
      ],
      hooks: {
        draw: [(plot) => drawMarks(plot, data, series.steps)],
        setCursor: [(plot) => plot.cursor.idx != null && say(plot.cursor.idx)],
        setScale: [
          (plot, key) => {
            if (key === "x") below.replaceChildren(windowTable(series, curves, momentsIn(series, plot.scales.x.min!, plot.scales.x.max!)));
          },
        ],
      },
    },
    [series.moments.map((ns) => ns / 1e9), ...order.map((at) => sums[at]), ...(mended ? [mended.bytes] : [])],
    chart,
  );
  const all = [series.moments[0] / 1e9, series.moments[series.moments.length - 1] / 1e9];
  const zoom = (min: number, max: number) => plot.setScale("x", { min: Math.max(min, all[0]), max: Math.min(max, all[1]) });
  const part = (all[1] - all[0]) / 20;
  const peak = data.peak.since_start_ns / 1e9;
  controls.append(
    button("Whole run", () => zoom(all[0], all[1])),
    button("Around the peak", () => zoom(peak - part, peak + part)),
    button("Nearer", () => zoom(plot.scales.x.min! * 0.75 + plot.scales.x.max! * 0.25, plot.scales.x.min! * 0.25 + plot.scales.x.max! * 0.75)),
    element("span", { class: "quiet" }, "Drag in the chart to zoom, double-click for the whole run."),
  );
  new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: HEIGHT })).observe(chart);
  say(momentsIn(series, peak, peak)[0]);
}
