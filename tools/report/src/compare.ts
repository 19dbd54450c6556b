// Two runs side by side: what B needs more or less than A, where, and both curves.
import uPlot from "uplot";
import type { Comparison, PageData, Table } from "./data";
import type { View } from "./main";
import { BYTE_TICKS, bytesText, choice, element } from "./text";
import { tableOf, type Cell } from "./table";

const HEIGHT = 300;
const COLORS = ["#3b82c4", "#c4703b"];

// Puts the times of two curves into one list. A curve has no value at the other's times, and uPlot joins its own.
function joined(runs: PageData[]): uPlot.AlignedData {
  const curves = runs.map(({ series }) => {
    const total = series?.curves.find((curve) => curve.by === "total");
    return [(series?.moments ?? []).map((ns) => ns / 1e9), total?.bytes ?? []] as uPlot.AlignedData;
  });
  return uPlot.join(curves);
}

function drawCurves(place: HTMLElement, runs: PageData[], names: string[]): void {
  const axis = () => getComputedStyle(document.body).color;
  const chart = element("div", { class: "chart", role: "img", "aria-label": "Bytes in use over time in both runs" });
  place.append(chart, element("p", { class: "quiet" }, `The solid line is A (${names[0]}), the dashed line is B (${names[1]}).`));
  const plot = new uPlot(
    {
      width: chart.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, max * 1.05] } },
      axes: [
        { stroke: axis, grid: { stroke: "#8884" }, values: (_plot, ticks) => ticks.map((s) => `${s} s`) },
        { stroke: axis, grid: { stroke: "#8884" }, size: 90, incrs: BYTE_TICKS, values: (_plot, ticks) => ticks.map(bytesText) },
      ],
      series: [
        {},
        { label: "A", stroke: COLORS[0], width: 2, spanGaps: true, points: { show: false } },
        { label: "B", stroke: COLORS[1], width: 2, dash: [8, 4], spanGaps: true, points: { show: false } },
      ],
    },
    joined(runs),
    chart,
  );
  new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: HEIGHT })).observe(chart);
}

const SWAPPED: Record<string, string> = { new: "gone", gone: "new", grown: "shrunk", shrunk: "grown" };

// Returns the table as if A and B had been compared in the other direction.
function swapped(table: Table): Table {
  const names = table.columns.map(({ name }) => name);
  const other = (name: string) => (/(^|_)[AB]$/.test(name) ? name.slice(0, -1) + (name.endsWith("A") ? "B" : "A") : name);
  const from = names.map((name) => names.indexOf(other(name)));
  const cell = (row: Cell[], at: number): Cell => {
    const value = row[from[at]];
    if (names[at] === "change") return -(value as number);
    return names[at] === "state" ? (SWAPPED[String(value)] ?? value) : value;
  };
  return { ...table, rows: table.rows.map((row) => names.map((_, at) => cell(row, at))) };
}

function headOf(comparison: Comparison, is_swapped: boolean): HTMLElement {
  const { before_bytes, after_bytes, at } = comparison;
  const [from, to] = is_swapped ? [after_bytes, before_bytes] : [before_bytes, after_bytes];
  const change = to - from;
  return element(
    "dl",
    { class: "facts" },
    ...[
      ["A", bytesText(from), from],
      ["B", bytesText(to), to],
      ["Change", `${change > 0 ? "+" : ""}${bytesText(change)}`, change],
    ].map(([name, text, bytes]) =>
      element("div", { "data-fact": String(name) }, element("dt", {}, `${name} at ${at}`), element("dd", { "data-value": String(bytes) }, String(text))),
    ),
  );
}

export function showCompare({ file, place, settings, go }: View): void {
  const comparison = file.comparison!;
  const is_swapped = settings.get("order") === "BA";
  const names = is_swapped ? [comparison.second, comparison.first] : [comparison.first, comparison.second];
  const runs = is_swapped ? [...file.runs].reverse() : file.runs;
  const table = comparison.tables.find(({ name }) => name === settings.get("table")) ?? comparison.tables[0];
  const order = is_swapped ? "BA" : "AB";
  place.append(element("h2", {}, "Comparison"));
  if (!is_swapped) place.append(element("p", { "data-sentence": "" }, comparison.sentence));
  place.append(headOf(comparison, is_swapped));
  if (runs.every(({ series }) => series)) drawCurves(place, runs, names);
  for (const { state, title } of comparison.findings)
    place.append(element("p", {}, `Finding only in ${(state === "new") === is_swapped ? "A" : "B"}: ${title}`));
  const titles = Object.fromEntries(comparison.tables.map(({ name, title }) => [name, title]));
  place.append(
    element(
      "p",
      { class: "buttons" },
      choice("Differences", titles, table.name, (next) => go("compare", { table: next, order })),
      choice("Order", { AB: `${comparison.first}, then ${comparison.second}`, BA: `${comparison.second}, then ${comparison.first}` }, order, (next) =>
        go("compare", { table: table.name, order: next }),
      ),
    ),
  );
  const shown = is_swapped ? swapped(table) : table;
  const part = shown.rows.length < shown.rows_in_all ? ` (${shown.rows.length} of ${shown.rows_in_all} rows)` : "";
  place.append(tableOf({ caption: shown.title + part, columns: shown.columns, rows: shown.rows }));
}
