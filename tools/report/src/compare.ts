// Two runs side by side: what B needs more or less than A, where, and both curves.
import uPlot from "uplot";
import { alignedLaunches } from "./aligned";
import { chartPlace, drawChart, secondsText } from "./chart";
import type { Comparison, PageData, Table } from "./data";
import type { View } from "./main";
import { bytesText, choice, element } from "./text";
import { tableOfData, type Cell } from "./table";

const HEIGHT = 300;

// Puts the times of two curves into one list. A curve has no value at the other's times, and uPlot joins its own.
function joined(runs: PageData[]): uPlot.AlignedData {
  const curves = runs.map(({ series }) => {
    const total = series?.curves.find((curve) => curve.by === "total");
    return [(series?.moments ?? []).map((ns) => ns / 1e9), total?.bytes ?? []] as uPlot.AlignedData;
  });
  return uPlot.join(curves);
}

function drawCurves(place: HTMLElement, runs: PageData[], names: string[]): void {
  const chart = chartPlace();
  place.append(
    chart,
    element("p", { class: "quiet" }, `The solid line is A (${names[0]}), the dashed line is B (${names[1]}).`),
  );
  drawChart(chart, {
    label: "Bytes in use over time in both runs",
    height: HEIGHT,
    series: [
      { label: "A", stroke: "#3b82c4", width: 2, spanGaps: true },
      { label: "B", stroke: "#c4703b", width: 2, dash: [8, 4], spanGaps: true },
    ],
    data: joined(runs),
    xText: secondsText,
  });
}

const SWAPPED: Record<string, string> = { new: "gone", gone: "new", grown: "shrunk", shrunk: "grown" };

// Returns the table as if A and B had been compared in the other direction.
function swapped(table: Table): Table {
  const names = table.columns.map(({ name }) => name);
  const other = (name: string) =>
    /(^|_)[AB]$/.test(name) ? name.slice(0, -1) + (name.endsWith("A") ? "B" : "A") : name;
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
      element(
        "div",
        { "data-fact": String(name) },
        element("dt", {}, `${name} at ${at}`),
        element("dd", { "data-value": String(bytes) }, String(text)),
      ),
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
      choice(
        "Order",
        { AB: `${comparison.first}, then ${comparison.second}`, BA: `${comparison.second}, then ${comparison.first}` },
        order,
        (next) => go("compare", { table: table.name, order: next }),
      ),
    ),
  );
  place.append(element("div", { class: "differences" }, tableOfData(is_swapped ? swapped(table) : table)));
  if (comparison.launches?.rows.length) place.append(alignedLaunches(comparison.launches, is_swapped));
}
