// What lived, began and ended in a window of the run, by place, and the launches and steps there. The window is widened to the edges of
// the parts into which the run is divided, so its numbers are exact: `msleaks report` says the same of the same window.
import type { PageData, Step, Turnover } from "./data";
import { stepTable } from "./steps";
import { bytesText, countText, element, timeText } from "./text";
import { tableOf } from "./table";

const MOST_STEPS = 50; // rows

interface Sum {
  bytes: number;
  count: number;
}

export interface PlaceFacts {
  place: string | null;
  before: Sum; // alive at the window's begin
  born: Sum;
  freed: Sum;
  other: Sum;
  after: Sum; // alive at its end
}

// Returns the numbers of the first edge and the last one of the smallest window of whole parts that contains these times.
export function edgesAround({ edges }: Turnover, begin_ns: number, end_ns: number): [number, number] {
  const last = edges.length - 1;
  let first = edges.filter((edge) => edge <= begin_ns).length - 1;
  let end = edges.findIndex((edge) => edge >= end_ns);
  first = Math.min(Math.max(first, 0), last - 1);
  end = end < 0 ? last : end;
  return [first, Math.max(end, first + 1)];
}

const plus = (a: Sum, bytes: number, count: number): Sum => ({ bytes: a.bytes + bytes, count: a.count + count });

function factsOfLine({ place, before, changes }: Turnover["lines"][0], [first, end]: [number, number]): PlaceFacts {
  const nothing = { bytes: 0, count: 0 };
  const facts: PlaceFacts = {
    place,
    before: { bytes: before[0], count: before[1] },
    born: nothing,
    freed: nothing,
    other: nothing,
    after: nothing,
  };
  for (const [part, ...sums] of changes) {
    if (part >= end) break;
    const [born, born_count, freed, freed_count, other, other_count] = sums;
    if (part < first) {
      facts.before = plus(facts.before, born - freed + other, born_count - freed_count + other_count);
      continue;
    }
    facts.born = plus(facts.born, born, born_count);
    facts.freed = plus(facts.freed, freed, freed_count);
    facts.other = plus(facts.other, other, other_count);
  }
  const { before: old, born, freed, other } = facts;
  facts.after = plus(old, born.bytes - freed.bytes + other.bytes, born.count - freed.count + other.count);
  return facts;
}

// Returns the places that had or changed memory in the window. The place with the most bytes, alive at the begin or allocated in the
// window, is the first. The sum of all other places is the last.
export function factsOfWindow(turnover: Turnover, window: [number, number]): PlaceFacts[] {
  const weight = ({ before, born }: PlaceFacts) => before.bytes + born.bytes;
  return turnover.lines
    .map((line) => factsOfLine(line, window))
    .filter(({ before, born, freed, other }) => [before, born, freed, other].some(({ count, bytes }) => count || bytes))
    .sort((a, b) => Number(a.place === null) - Number(b.place === null) || weight(b) - weight(a));
}

function placeTable(facts: PlaceFacts[]): HTMLElement {
  return tableOf({
    caption: "Blocks of this window by place",
    columns: [
      { name: "place", unit: "place" },
      { name: "at_its_begin", unit: "bytes" },
      { name: "born", unit: "bytes" },
      { name: "blocks_born", unit: "count" },
      { name: "freed", unit: "bytes" },
      { name: "blocks_freed", unit: "count" },
      { name: "other_changes", unit: "bytes" },
      { name: "at_its_end", unit: "bytes" },
      { name: "blocks_at_its_end", unit: "count" },
    ],
    rows: facts.map(({ place, before, born, freed, other, after }) => [
      place ?? "all other places",
      before.bytes,
      born.bytes,
      born.count,
      freed.bytes,
      freed.count,
      other.bytes,
      after.bytes,
      after.count,
    ]),
  });
}

function launchTable({ launches }: Turnover, [first, end]: [number, number]): HTMLElement | null {
  const rows = launches
    .map(({ kernel, others, counts }): [string, number] => [
      others ? "all other kernels" : kernel || "kernels without a name",
      counts.reduce((sum, [part, count]) => (part >= first && part < end ? sum + count : sum), 0),
    ])
    .filter(([, count]) => count)
    .sort((a, b) => b[1] - a[1]);
  if (!rows.length) return null;
  return tableOf({
    caption: "Launches in this window",
    columns: [
      { name: "kernel", unit: "text" },
      { name: "launches", unit: "count" },
    ],
    rows,
  });
}

function stepsIn(steps: Step[], begin_ns: number, end_ns: number): Step[] {
  return steps.filter((step) => step.begin_ns < end_ns && step.end_ns > begin_ns);
}

function total(facts: PlaceFacts[], of: "before" | "born" | "freed" | "after"): Sum {
  return facts.reduce((sum, fact) => plus(sum, fact[of].bytes, fact[of].count), { bytes: 0, count: 0 });
}

function sentenceOf(facts: PlaceFacts[], begin_ns: number, end_ns: number): string {
  const text = (of: "before" | "born" | "freed" | "after") => {
    const { bytes, count } = total(facts, of);
    return `${bytesText(bytes)} in ${countText(count)} blocks`;
  };
  return (
    `From ${timeText(begin_ns)} to ${timeText(end_ns)}: ${text("before")} were alive at the begin, ${text("born")} were allocated, ` +
    `${text("freed")} were freed, ${text("after")} were alive at the end.`
  );
}

// The facts of the smallest window of whole parts that contains these times.
export function windowFacts(data: PageData, turnover: Turnover, begin_ns: number, end_ns: number): HTMLElement {
  const window = edgesAround(turnover, begin_ns, end_ns);
  const [from_ns, to_ns] = [turnover.edges[window[0]], turnover.edges[window[1]]];
  const facts = factsOfWindow(turnover, window);
  const steps = stepsIn(data.series?.steps ?? [], from_ns, to_ns);
  return element(
    "section",
    { "aria-label": "The shown window", "data-from": String(from_ns), "data-to": String(to_ns) },
    element("h3", {}, "In this window"),
    element("p", {}, sentenceOf(facts, from_ns, to_ns)),
    element(
      "p",
      { class: "quiet" },
      "The whole report of this window: ",
      element("code", {}, `msleaks report RUN --from ${from_ns}ns --to ${to_ns}ns`),
    ),
    placeTable(facts),
    launchTable(turnover, window),
    steps.length ? stepTable(`Steps in this window`, steps, MOST_STEPS) : null,
  );
}
