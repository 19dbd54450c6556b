// The steps of the program: what each needed at most, and what it left behind.
import { chartPlace, drawChart } from "./chart";
import type { Step } from "./data";
import type { View } from "./main";
import { element, timeText } from "./text";
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
      departs
        ? `Step ${departs.first} is the first that leaves more behind than the step before it.`
        : "Each step leaves about as much behind as the step before it.",
    ),
  );
  const chart = chartPlace();
  place.append(
    chart,
    element(
      "p",
      { class: "quiet" },
      "The thick line is the peak of each step, the dashed line is what was alive at its end.",
    ),
  );
  drawChart(chart, {
    label: "Peak of each step, and the bytes alive at its end",
    height: HEIGHT,
    series: [
      { label: "peak", stroke: "#3b82c4", width: 3 },
      { label: "end", stroke: "#c4703b", width: 2, dash: [6, 4] },
    ],
    data: [steps.map((_, at) => at + 1), steps.map((step) => step.peak_bytes), steps.map((step) => step.end_bytes)],
    xText: String,
  });
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
