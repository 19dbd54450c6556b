// The bytes in use over time, as stacked areas, and a table of what the shown window began with, ended with and needed at most.
import type uPlot from "uplot";
import { chartPlace, drawChart, frontColor, secondsText } from "./chart";
import type { Curve, PageData, Series, Step } from "./data";
import type { View } from "./main";
import { bytesText, button, choice, element, timeText } from "./text";
import { tableOf } from "./table";
import { findingBoxes, mendedBy, mendedText, type Mended } from "./what_if";
import { windowFacts } from "./window_facts";

type By = "account" | "owner" | "type" | "place";
const KINDS: Record<By, string> = { account: "kind of memory", owner: "owner", type: "type", place: "place" };
const HEIGHT = 360;

function nameOf(curve: Curve): string {
  if (curve.others) return "others";
  if (curve.by === "account") return curve.device == null ? curve.heap! : `${curve.heap} of device ${curve.device}`;
  if (curve.name === null) return `no ${curve.by} known`;
  return curve.by === "place" ? curve.name.replace(/^[^ ]*\/(?=[^/ ]*(:\d|\+0x))/, "") : curve.name;
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

function drawLine(chart: uPlot, s: number, dash: number[], text: string): void {
  const { ctx, bbox } = chart;
  const x = chart.valToPos(s, "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.strokeStyle = ctx.fillStyle = frontColor();
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.fillText(text, x + 3, bbox.top + 10);
  ctx.restore();
}

// Draws the begin of each step, and the peak. Draws no steps if they would lie closer than 4 pixels.
function drawMarks(chart: uPlot, data: PageData, steps: Step[]): void {
  const [begin_s, end_s] = windowOf(chart);
  const seen = steps.filter((step) => step.begin_ns / 1e9 >= begin_s && step.begin_ns / 1e9 <= end_s);
  if (seen.length <= chart.bbox.width / 4)
    seen.forEach((step) => drawLine(chart, step.begin_ns / 1e9, [2, 6], seen.length < 30 ? `${step.first}` : ""));
  drawLine(chart, data.peak.since_start_ns / 1e9, [], data.at ?? "peak");
}

function windowOf(chart: uPlot): [number, number] {
  return [chart.scales.x.min ?? 0, chart.scales.x.max ?? 0];
}

// Returns the numbers of the first and the last moment in the window.
function momentsIn({ moments }: Series, [begin_s, end_s]: [number, number]): [number, number] {
  let first = moments.findIndex((ns) => ns / 1e9 >= begin_s);
  if (first < 0) first = moments.length - 1;
  let last = first;
  while (last + 1 < moments.length && moments[last + 1] / 1e9 <= end_s) ++last;
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
      const [begin, end] = [bytes[0], bytes[bytes.length - 1]];
      return [nameOf(curve), begin, end, end - begin, bytes.reduce((a, b) => Math.max(a, b), 0)];
    }),
  });
}

// Returns the legend, and a function that shows the bytes of each curve at a moment in it.
function legendOf(curves: Curve[], chosen: string | undefined): [HTMLElement, (moment: number) => void] {
  const values = curves.map(() => element("span", { class: "value" }));
  const items = curves.map((curve, at) => {
    const mark = element("span", { class: "mark", "aria-hidden": "true" });
    mark.style.background = colorOf(curve, at);
    return element("li", nameOf(curve) === chosen ? { class: "chosen" } : {}, mark, nameOf(curve), " ", values[at]);
  });
  const show = (moment: number) =>
    curves.forEach((curve, at) => (values[at].textContent = bytesText(curve.bytes[moment])));
  return [element("ul", { class: "legend" }, ...items.reverse()), show]; // as the areas lie, from the top
}

// The areas, from the highest sum to the lowest, so each covers all below it. Then the memory without some findings.
function areasOf(curves: Curve[], mended: Mended | null, chosen: string | undefined): [uPlot.Series[], number[][]] {
  const sums = stacked(curves);
  const order = curves.map((_, at) => curves.length - 1 - at);
  const areas: uPlot.Series[] = order.map((at) => ({
    label: nameOf(curves[at]),
    stroke: "#0003",
    fill: colorOf(curves[at], at),
    width: nameOf(curves[at]) === chosen ? 3 : 0.5,
  }));
  const data = order.map((at) => sums[at]);
  if (!mended) return [areas, data];
  return [
    [...areas, { label: "mended", stroke: frontColor, width: 3, dash: [10, 5] }],
    [...data, mended.bytes],
  ];
}

function zoomButtons(plot: uPlot, series: Series, peak_ns: number): HTMLElement[] {
  const all: [number, number] = [series.moments[0] / 1e9, series.moments[series.moments.length - 1] / 1e9];
  const zoom = (min: number, max: number) =>
    plot.setScale("x", { min: Math.max(min, all[0]), max: Math.min(max, all[1]) });
  const part = (all[1] - all[0]) / 20;
  const nearer = () => {
    const [min, max] = windowOf(plot);
    zoom(min * 0.75 + max * 0.25, min * 0.25 + max * 0.75);
  };
  return [
    button("Whole run", () => zoom(...all)),
    button("Around the peak", () => zoom(peak_ns / 1e9 - part, peak_ns / 1e9 + part)),
    button("Nearer", nearer),
    element("span", { class: "quiet" }, "Drag in the chart to zoom, double-click for the whole run."),
  ];
}

interface Settings {
  by: By;
  name?: string; // of the chosen curve
  without: Set<string>; // ids of findings
  window: [number, number] | null; // ns
}

function settingsOf(given: Map<string, string>): Settings {
  const by = given.get("by") ?? "";
  const window = [Number(given.get("from") ?? NaN), Number(given.get("to") ?? NaN)];
  return {
    by: by in KINDS ? (by as By) : "account",
    name: given.get("name"),
    without: new Set((given.get("without") ?? "").split(",").filter((id) => id)),
    window: window[0] < window[1] ? [window[0], window[1]] : null,
  };
}

// Returns the kinds that have curves.
function kindsOf(series: Series): Partial<Record<By, string>> {
  const has = (by: string) => series.curves.some((curve) => curve.by === by);
  return Object.fromEntries(Object.entries(KINDS).filter(([by]) => has(by)));
}

function draw({ data, place, go, note }: View, series: Series, settings: Settings): void {
  const { by, name, without } = settings;
  const curves = series.curves.filter((curve) => curve.by === by);
  const total = series.curves.find((curve) => curve.by === "total")!;
  const mended = without.size ? mendedBy(data, total.bytes, without) : null;
  const all: [number, number] = [series.moments[0], series.moments[series.moments.length - 1]];
  let window = settings.window;
  const settingsFor = (next: By, ids: Set<string>) => ({
    by: next,
    ...(name && next === by ? { name } : {}),
    ...(ids.size ? { without: [...ids].join(",") } : {}),
    ...(window ? { from: String(window[0]), to: String(window[1]) } : {}),
  });
  const goTo = (next: By, ids: Set<string>) => go("memory", settingsFor(next, ids));

  const chart = chartPlace();
  const [below, facts] = [element("div", { class: "curves" }), element("div")];
  const readout = element("p", { class: "quiet", "aria-live": "polite" });
  const [legend, showValues] = legendOf(curves, name);
  const controls = element(
    "p",
    { class: "buttons" },
    choice("Stacked by", kindsOf(series) as Record<By, string>, by, (next) => goTo(next, without)),
  );
  place.append(
    controls,
    ...(mended ? [mendedText(total.peak_bytes, mended)] : []),
    chart,
    readout,
    ...findingBoxes(data, without, (ids) => goTo(by, ids)),
    legend,
    below,
    facts,
  );
  const say = (moment: number) => {
    readout.textContent = `At ${timeText(series.moments[moment])}: ${bytesText(total.bytes[moment])} in all`;
    showValues(moment);
  };
  const showWindow = (window_s: [number, number]) => {
    const [begin_ns, end_ns] = window_s.map((s) => Math.round(s * 1e9));
    window = begin_ns <= all[0] && end_ns >= all[1] ? null : [begin_ns, end_ns];
    note(settingsFor(by, without));
    below.replaceChildren(windowTable(series, curves, momentsIn(series, window_s)));
    if (data.turnover && data.turnover.edges.length > 1)
      facts.replaceChildren(windowFacts(data, data.turnover, window ? begin_ns : 0, window ? end_ns : Infinity));
  };
  const [areas, columns] = areasOf(curves, mended, name);
  const plot = drawChart(chart, {
    label: `Bytes in use over time, by ${KINDS[by]}`,
    height: HEIGHT,
    series: areas,
    data: [series.moments.map((ns) => ns / 1e9), ...columns],
    xText: secondsText,
    hooks: {
      draw: [(drawn) => drawMarks(drawn, data, series.steps)],
      setCursor: [(drawn) => drawn.cursor.idx != null && say(drawn.cursor.idx)],
      setScale: [(drawn, key) => key === "x" && showWindow(windowOf(drawn))],
    },
  });
  if (settings.window) plot.setScale("x", { min: settings.window[0] / 1e9, max: settings.window[1] / 1e9 });
  controls.append(...zoomButtons(plot, series, data.peak.since_start_ns));
  const peak_s = data.peak.since_start_ns / 1e9;
  say(momentsIn(series, [peak_s, peak_s])[0]);
}

export function showMemory(view: View): void {
  const { data, place, settings } = view;
  place.append(element("h2", {}, "Memory over time"));
  if (data.series && data.series.moments.length > 1) draw(view, data.series, settingsOf(settings));
  else place.append(element("p", {}, "The run has no curves: it was too short, or the report is about one moment."));
}
