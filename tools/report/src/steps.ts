// The steps of the program: what each needed at most, and what it left behind.
import uPlot from "uplot";
import type { Step } from "./data";
import type { View } from "./main";
import { BYTE_TICKS, bytesText, element, timeText } from "./text";
import { tableOf } from "./table";

const HEIGHT = 300;

// A step departs if it leaves other bytes behind than the step before it, by more than this part of the peak.
const DEPARTS = 0.01;

// Returns the first step that leaves more bytes than the step before it, although an earlier step left the same as its predecessor.
export function departingStep(steps: Step[], peak_bytes: number): Step | undefined {
  let is_steady = false;
  for (let at = 1; at < steps.length; ++at) {
    if (steps[at].process !== steps[at - 1].process) {
      is_steady = false;
      continue;
    }
    const change = steps[at].end_bytes - steps[at - 1].end_bytes;
    if (is_steady && change > DEPARTS * peak_bytes) return steps[at];
    is_steady ||= Math.abs(change) <= DEPARTS * peak_bytes;
  }
  return undefined;
}

export function showSteps({ data, place }: View): void {
  const steps = data.series?.steps ?? [];
  place.append(element("h2", {}, "Steps"));
  if (!steps.length) {
    place.append(element("p", {}, "The program told no steps."));
    return;
  }
  const departs = departingStep(steps, data.peak.bytes);
  place.append(
    element(
      "p",
      { "data-departs": departs ? String(departs.first) : "" },
      departs ? `Step ${departs.first} is the first that leaves more behind than the step before it.` : "Each step leaves about as much behind as the step before it.",
    ),
  );
  const axis = () => getComputedStyle(document.body).color;
  const chart = element("div", { class: "chart", role: "img", "aria-label": "Peak of each step, and what it left behind; the table below has the numbers" });
  place.append(chart, element("p", { class: "quiet" }, "The thick line is the peak of each step, the dashed line is what was alive at its end."));
  const plot = new uPlot(
    {
      width: chart.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, max * 1.05] } },
      axes: [
        { stroke: axis, grid: { stroke: "#8884" } },
        { stroke: axis, grid: { stroke: "#8884" }, size: 90, incrs: BYTE_TICKS, values: (_plot, ticks) => ticks.map(bytesText) },
      ],
      series: [{}, { label: "peak", stroke: "#3b82c4", width: 3 }, { label: "end", stroke: "#c4703b", width: 2, dash: [6, 4] }],
    },
    [steps.map((_, at) => at + 1), steps.map((step) => step.peak_bytes), steps.map((step) => step.end_bytes)],
    chart,
  );
  new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: HEIGHT })).observe(chart);
  place.append(
    tableOf({
      caption: "Steps",
      columns: [
        { name: "step", unit: "text" },
        { name: "process", unit: "text" },
        { name: "begins", unit: "text" },
        { name: "peak", unit: "bytes" },
        { name: "alive_at_its_end", unit: "bytes" },
        { name: "launches", unit: "count" },
      ],
      rows: steps.map((step) => [
        step.first === step.last ? `${step.first}` : `${step.first} to ${step.last}`,
        `pid ${step.pid}`,
        timeText(step.begin_ns),
        step.peak_bytes,
        step.end_bytes,
        step.launches,
      ]),
    }),
  );
}
