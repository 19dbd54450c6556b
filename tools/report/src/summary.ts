// The first view: what the run needed, and the findings, the one that saves most first.
import { placeOf, type Finding, type PageData, type Source } from "./data";
import type { View } from "./main";
import { curveOf } from "./what_if";
import { bytesText, button, countText, element, timeText } from "./text";

const LINES_AROUND = 3;

function fact(name: string, value: string, about: string, bytes?: number): HTMLElement {
  const shown = element("dd", {}, value, element("small", {}, about));
  if (bytes !== undefined) shown.dataset.value = String(bytes);
  return element("div", { "data-fact": name }, element("dt", {}, name), shown);
}

function factsOf(data: PageData): HTMLElement {
  const { peak, leaks, events, kept_by_libraries: kept } = data;
  const facts = [
    fact(
      data.at ? `At ${data.at}` : "Peak",
      bytesText(peak.bytes),
      `at ${timeText(peak.since_start_ns)}` +
        (peak.resident_bytes ? `; ${bytesText(peak.resident_bytes)} resident` : ""),
      peak.bytes,
    ),
    fact(
      "Leaks",
      leaks.count ? bytesText(leaks.bytes) : "none",
      leaks.count ? `${countText(leaks.count)} blocks` : "",
      leaks.bytes,
    ),
    fact("Kept by libraries", bytesText(kept.bytes), `${countText(kept.count)} blocks`, kept.bytes),
    fact(
      "Time",
      timeText(data.duration_ns),
      `${countText(events.stored)} events` +
        (data.complete ? "" : `, ${countText(events.dropped + events.missing)} lost`),
    ),
  ];
  if (data.floor_bytes !== null)
    facts.push(
      fact(
        "Floor",
        bytesText(data.floor_bytes),
        "if each block lived from its first use to its last",
        data.floor_bytes,
      ),
    );
  return element("dl", { class: "facts" }, ...facts);
}

function linesNear(source: Source, line: number): HTMLElement | null {
  const part = source.parts.find(({ first, lines }) => line >= first && line < first + lines.length);
  if (!part) return null;
  const begin = Math.max(part.first, line - LINES_AROUND);
  const shown = part.lines.slice(begin - part.first, line + LINES_AROUND + 1 - part.first);
  const rows = shown.map((text, at) => {
    const marks = begin + at === line;
    return element(
      "span",
      marks ? { class: "here" } : {},
      `${marks ? ">" : " "}${String(begin + at).padStart(5)}  ${text}\n`,
    );
  });
  return element("pre", { class: "source", tabindex: "0", "aria-label": `${source.file}, line ${line}` }, ...rows);
}

function sourceOf(data: PageData, finding: Finding): HTMLElement | null {
  const source = data.sources.find(({ file }) => file === finding.file);
  if (!source || finding.line === null) return null;
  if (source.missing) return element("p", { class: "quiet" }, `${source.file}: ${source.missing}`);
  const lines = linesNear(source, finding.line);
  if (!lines) return null;
  return element(
    "div",
    {},
    source.changed ? element("p", { class: "quiet" }, "The file has changed since the run.") : null,
    lines,
  );
}

function frameText(data: PageData, number: number): string {
  const frame = data.frames[number];
  const place = placeOf(frame);
  return place ? `${frame.text}  ${place}` : frame.text;
}

function detailsOf(name: string, ...children: (Node | null)[]): HTMLElement {
  return element("details", {}, element("summary", {}, name), ...children);
}

function evidenceText(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function findingOf(view: View, finding: Finding): HTMLElement {
  const { data, go } = view;
  const evidence = element("dl", { class: "evidence" });
  for (const [name, value] of Object.entries(finding.evidence))
    evidence.append(element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, evidenceText(value)));
  const path = element(
    "ol",
    { class: "path" },
    ...finding.frames.map((frame) => element("li", {}, frameText(data, frame))),
  );
  const buttons = element("p", { class: "buttons" });
  if (finding.file !== null || finding.frames.length)
    buttons.append(
      button("Show in the flame graph", () =>
        go("flame", {
          of: finding.kind === "leak" ? "leaks" : "peak",
          find: finding.file ? `${finding.file}:${finding.line}` : frameText(data, finding.frames[0]),
        }),
      ),
    );
  if (finding.owner && data.series?.curves.some((curve) => curve.by === "owner" && curve.name === finding.owner))
    buttons.append(button("Show its owner over time", () => go("memory", { by: "owner", name: finding.owner })));
  if (curveOf(data.series, finding))
    buttons.append(button("Show the memory without it", () => go("memory", { by: "account", without: finding.id })));
  return element(
    "article",
    {
      class: `finding ${finding.confidence}`,
      "data-kind": finding.kind,
      "data-saves": String(finding.saves_bytes),
      id: `finding-${finding.id}`,
    },
    element("h3", {}, `${finding.number}. ${finding.title}`),
    element("p", { class: "where" }, finding.where),
    finding.saving || finding.advice ? element("p", {}, `${finding.saving} ${finding.advice}`.trim()) : null,
    finding.holders ? element("p", { class: "where" }, finding.holders) : null,
    sourceOf(data, finding),
    buttons,
    finding.frames.length ? detailsOf(`Path of ${countText(finding.frames.length)} calls`, path) : null,
    evidence.childElementCount ? detailsOf("Evidence", evidence) : null,
  );
}

export function showSummary(view: View): void {
  const { data, place } = view;
  place.append(element("h2", {}, "Summary"), factsOf(data));
  place.append(element("h2", {}, data.findings_in_all ? "Findings" : "No findings"));
  if (data.findings.length < data.findings_in_all)
    place.append(
      element(
        "p",
        { class: "quiet" },
        `The first ${data.findings.length} of ${countText(data.findings_in_all)}. \`msleaks report --section findings\` prints all.`,
      ),
    );
  place.append(...data.findings.map((finding) => findingOf(view, finding)));
  if (data.notes.length)
    place.append(element("h2", {}, "Notes"), element("ul", {}, ...data.notes.map((note) => element("li", {}, note))));
}
