// A table whose rows are sorted by a click on a column's head.
import type { Table } from "./data";
import { cellText, countText, element } from "./text";

export type Cell = string | number | null;
export interface Column {
  name: string;
  unit: string;
}

export interface TableOptions {
  caption: string;
  columns: Column[];
  rows: Cell[][];
}

const isNumber = (unit: string) => unit !== "text" && unit !== "place";

function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return b - a;
  return String(a ?? "").localeCompare(String(b ?? ""));
}

function cellOf(value: Cell, column: Column): HTMLTableCellElement {
  const cell = element("td", isNumber(column.unit) ? { class: "number" } : {}, cellText(value, column.unit));
  if (typeof value === "number") cell.dataset.value = String(value);
  return cell;
}

export function tableOf({ caption, columns, rows }: TableOptions): HTMLElement {
  const body = element("tbody");
  const made = rows.map((row) => element("tr", {}, ...columns.map((column, at) => cellOf(row[at], column))));
  const fill = (order: number[]) => body.replaceChildren(...order.map((row) => made[row]));
  const order = rows.map((_, row) => row);
  const heads = columns.map((column, at) => {
    const sort = element("button", { type: "button", class: "link" }, column.name.replaceAll("_", " "));
    const head = element("th", { scope: "col", class: isNumber(column.unit) ? "number" : "" }, sort);
    sort.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "ascending" : "descending");
      order.sort((a, b) => (falls ? -1 : 1) * compare(rows[a][at], rows[b][at]));
      fill(order);
    });
    return head;
  });
  fill(order);
  const table = element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads)),
    body,
  );
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

// A table of the page's data. The caption says how many rows the page leaves out.
export function tableOfData({ title, columns, rows, rows_in_all }: Table): HTMLElement {
  const part = rows.length < rows_in_all ? ` (${countText(rows.length)} of ${countText(rows_in_all)} rows)` : "";
  return tableOf({ caption: title + part, columns, rows });
}
