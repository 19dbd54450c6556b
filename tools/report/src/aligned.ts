// The launches of two runs side by side: those that differ, with their neighbours. Each sequence is a table of its own.
import type { AlignedLaunch, AlignedLaunches, LaunchMemory } from "./data";
import { bytesText, countText, element } from "./text";

const SWAPPED = { same: "same", changed: "changed", new: "gone", gone: "new" } as const;

// Returns the launch as if the runs had been compared in the other direction.
function swapped(launch: AlignedLaunch): AlignedLaunch {
  return { ...launch, state: SWAPPED[launch.state], before: launch.after, after: launch.before };
}

function cellsOf(memory: LaunchMemory | null): HTMLElement[] {
  if (!memory) return [element("td", { class: "number absent", colspan: "3" }, "-")];
  return memory.map((bytes) => element("td", { class: "number", "data-value": String(bytes) }, bytesText(bytes)));
}

function leftOut(count: number): HTMLElement | null {
  if (!count) return null;
  return element("tr", { class: "left-out" }, element("td", { colspan: "8" }, `… ${countText(count)} equal launches`));
}

function rowsOf(launch: AlignedLaunch): (HTMLElement | null)[] {
  const name = launch.kind === "range" ? `range ${launch.name}` : launch.name;
  return [
    leftOut(launch.same_before),
    element(
      "tr",
      { "data-state": launch.state },
      element("td", {}, name),
      element("td", {}, launch.state),
      ...cellsOf(launch.before),
      ...cellsOf(launch.after),
    ),
    leftOut(launch.same_after),
  ];
}

function sequenceText({ device, process }: AlignedLaunch): string {
  return `${device === null ? "Host" : `Device ${device}`}, process ${process + 1}`;
}

function tableOfSequence(launches: AlignedLaunch[]): HTMLElement {
  const caption = sequenceText(launches[0]);
  const head = (names: string[]) => names.map((name) => element("th", { scope: "col", class: "number" }, name));
  const figures = ["before", "after", "peak"];
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      { class: "aligned" },
      element("caption", {}, caption),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col" }, "launch"),
          element("th", { scope: "col" }, "state"),
          ...head(["A", "B"].flatMap((run) => figures.map((figure) => `${run} ${figure}`))),
        ),
      ),
      element("tbody", {}, ...launches.flatMap(rowsOf)),
    ),
  );
}

// Consecutive launches of one process on one device are a sequence.
function sequencesOf(rows: AlignedLaunch[]): AlignedLaunch[][] {
  const sequences: AlignedLaunch[][] = [];
  for (const launch of rows) {
    const last = sequences.at(-1);
    if (last && last[0].device === launch.device && last[0].process === launch.process) last.push(launch);
    else sequences.push([launch]);
  }
  return sequences;
}

export function alignedLaunches(launches: AlignedLaunches, is_swapped: boolean): HTMLElement {
  const rows = is_swapped ? launches.rows.map(swapped) : launches.rows;
  const notes = [`${countText(launches.same)} launches and ranges are equal in both runs.`];
  if (launches.differing_left_out) notes.push(`${countText(launches.differing_left_out)} more differ.`);
  if (launches.coarse) notes.push("The sequences differ much, so some equal launches are shown as different ones.");
  return element(
    "section",
    { "aria-label": "Launches side by side", "data-launches": String(rows.length) },
    element("h3", {}, "Launches side by side"),
    element("p", { class: "quiet" }, notes.join(" ")),
    ...sequencesOf(rows).map(tableOfSequence),
  );
}
