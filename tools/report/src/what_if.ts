// What the memory over time would be if some findings were mended. Each finding has a curve of the bytes that a fix removes.
import type { Curve, Finding, PageData, Series } from "./data";
import { bytesText, element } from "./text";

export interface Mended {
  bytes: number[]; // in use without the blocks of these findings, at each moment
  peak_bytes: number;
}

export function curveOf(series: Series | null, finding: Finding): Curve | undefined {
  return series?.curves.find(({ by, name }) => by === "finding" && name === finding.id);
}

// Blocks that belong to two findings are subtracted twice, so the sum is only a lower bound then. It is never below 0.
export function mendedBy(data: PageData, total: number[], ids: Set<string>): Mended {
  const curves = data.findings
    .filter(({ id }) => ids.has(id))
    .flatMap((finding) => curveOf(data.series, finding) ?? []);
  const bytes = total.map((all, moment) =>
    Math.max(
      0,
      curves.reduce((left, curve) => left - curve.bytes[moment], all),
    ),
  );
  return { bytes, peak_bytes: bytes.reduce((a, b) => Math.max(a, b), 0) };
}

// A box for each finding that has a curve. Calls `onChange` with the ids of those that are checked.
export function findingBoxes(
  data: PageData,
  checked: Set<string>,
  onChange: (ids: Set<string>) => void,
): HTMLElement[] {
  const findings = data.findings.filter((finding) => curveOf(data.series, finding));
  if (!findings.length) return [];
  const rows = findings.map((finding) => {
    const box = element("input", { type: "checkbox", value: finding.id });
    box.checked = checked.has(finding.id);
    box.addEventListener("change", () => {
      const next = new Set(checked);
      if (box.checked) next.add(finding.id);
      else next.delete(finding.id);
      onChange(next);
    });
    return element("label", { class: "box" }, box, ` ${finding.number}. ${finding.title}`);
  });
  return [element("fieldset", {}, element("legend", {}, "What if these were mended?"), ...rows)];
}

export function mendedText(peak_bytes: number, mended: Mended): HTMLElement {
  const less = peak_bytes - mended.peak_bytes;
  return element(
    "p",
    { "data-mended": String(mended.peak_bytes), "aria-live": "polite" },
    `The peak would be ${bytesText(mended.peak_bytes)} (the thick dashed line), ${bytesText(less)} less.`,
  );
}
