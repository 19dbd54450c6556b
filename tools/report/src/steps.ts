// The steps of the program: what each needed at most, and what it left behind.
import { chartPlace, drawChart } from "./chart";
import type { Step } from "./data";
import type { View } from "./main";
import { bytesText, countText, element, timeText } from "./text";
import { tableOf } from "./table";

const HEIGHT = 300;

// A step departs if it leaves more bytes behind than the step before it, by more than this part of the peak.
const DEPARTS = 0.01;
// The steps grow if they leave more bytes behind, by more than this part of the peak each.
const GROWS = 0.001;

// Returns the bytes that each step leaves behind beyond the step before it. A process frees blocks behind its last step, so that step
// is left out.
function changesOf(steps: Step[]): { step: Step; bytes: number }[] {
  const follows = (at: number) => steps[at]?.process === steps[at - 1]?.process;
  return steps
    .map((step, at) => ({ step, at, bytes: at > 0 ? step.end_bytes - steps[at - 1].end_bytes : 0 }))
    .filter(({ at }) => at > 0 && follows(at) && follows(at + 1));
}

// Returns the first step that leaves more bytes than the step before it, although an earlier step left the same as its predecessor.
export function departingStep(steps: Step[], peak_bytes: number): Step | undefined {
  const changes = changesOf(steps);
  const steady = changes.findIndex(({ bytes }) => Math.abs(bytes) <= DEPARTS * peak_bytes);
  return changes.find(({ bytes }, at) => steady >= 0 && at > steady && bytes > DEPARTS * peak_bytes)?.step;
}

function sentenceOf(steps: Step[], peak_bytes: number, departs: Step | undefined): string {
  const sorted = changesOf(steps)
    .map(({ bytes }) => bytes)
    .sort((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  if (median > GROWS * peak_bytes)
    return `At least half of the steps leave ${bytesText(median)} or more behind, beyond the step before.`;
  if (departs) return `Step ${departs.first} is the first that leaves more behind than the step before it.`;
  return "Each step leaves about as much behind as the step before it.";
}

// A table of the first steps of the list. Its caption says how many it leaves out.
export function stepTable(name: string, steps: Step[], most: number): HTMLElement {
  const shown = steps.slice(0, most);
  return tableOf({
    caption: shown.length < steps.length ? `${name} (${shown.length} of ${countText(steps.length)})` : name,
    columns: [
      { name: "step", unit: "text" },
      { name: "process", unit: "text" },
      { name: "begins", unit: "text" },
      { name: "peak", unit: "bytes" },
      { name: "alive_at_its_end", unit: "bytes" },
      { name: "launches", unit: "count" },
    ],
    rows: shown.map((step) => [
      step.first === step.last ? `${step.first}` : `${step.first} to ${step.last}`,
      `pid ${step.pid}`,
      timeText(step.begin_ns),
      step.peak_bytes,
      step.end_bytes,
      step.launches,
    ]),
  });
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
    element("p", { "data-departs": departs ? String(departs.first) : "" }, sentenceOf(steps, data.peak.bytes, departs)),
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
  place.append(stepTable("Steps", steps, Infinity));
}
