// Writes numbers as the text report writes them, and makes elements. All texts become text nodes, so no name can become markup.

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytesText(bytes: number): string {
  const sign = bytes < 0 ? "-" : "";
  let value = Math.abs(bytes);
  if (value < 1024) return `${sign}${Math.round(value)} B`;
  value /= 1024;
  let unit = 0;
  while (value >= 1023.95 && unit + 1 < UNITS.length) {
    value /= 1024;
    ++unit;
  }
  return `${sign}${value.toFixed(value < 9.995 ? 2 : 1)} ${UNITS[unit]}`;
}

// The distances between ticks of an axis in bytes: powers of two.
export const BYTE_TICKS = Array.from({ length: 60 }, (_, power) => 2 ** power);

// Kept, because making a formatter takes ten times as long as using it.
const COUNTS = new Intl.NumberFormat("en-US");

export function countText(count: number): string {
  return COUNTS.format(count);
}

export function timeText(ns: number): string {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} us`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(1)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}

export function shareText(part: number, whole: number): string {
  return whole === 0 ? "" : `${((100 * part) / whole).toFixed(1)} %`;
}

// Returns the text of a table's cell, by the unit of its column (analysis/result/section.h).
export function cellText(value: string | number | null, unit: string): string {
  if (value === null) return "-";
  if (typeof value === "string") return value;
  if (unit === "bytes") return bytesText(value);
  if (unit === "ns") return timeText(value);
  return Number.isInteger(value) ? countText(value) : value.toPrecision(4);
}

type Child = Node | string | null;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child): child is Node | string => child !== null));
  return made;
}

export function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", onClick);
  return made;
}

// A choice between named values, with its label.
export function choice<Value extends string>(
  label: string,
  values: Record<Value, string>,
  chosen: Value,
  onChange: (value: Value) => void,
): HTMLElement {
  const select = element("select", { "aria-label": label });
  for (const [value, text] of Object.entries<string>(values)) {
    const option = element("option", { value }, text);
    option.selected = value === chosen;
    select.append(option);
  }
  select.addEventListener("change", () => onChange(select.value as Value));
  return element("label", {}, `${label} `, select);
}
