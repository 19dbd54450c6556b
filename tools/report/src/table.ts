// A table whose rows are sorted by a click on a column's head.
import { cellText, element } from "./text";

export type Cell = string | number | null;
export interface Column {
  name: string;
  unit: string;
}

export interface TableOptions {
  caption: string;
  columns: Column[];
  rows: Cell[][];
  onRow?: (row: number) => void; // makes the first cell of each row a button
}

const isNumber = (unit: string) => unit !== "text" && unit !== "place";

function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return b - a;
  return String(a ?? "").localeCompare(String(b ?? ""));
}

function cellOf(value: Cell, column: Column, onClick?: () => void): HTMLTableCellElement {
  const text = cellText(value, column.unit);
  const cell = element("td", isNumber(column.unit) ? { class: "number" } : {});
  if (typeof value === "number") cell.dataset.value = String(value);
  if (onClick) {
    const link = element("button", { type: "button", class: "link" }, text);
    link.addEventListener("click", onClick);
    cell.append(link);
  } else {
    cell.append(text);
  }
  return cell;
}

export function tableOf({ caption, columns, rows, onRow }: TableOptions): HTMLElement {
  const body = element("tbody");
  const fill = (order: number[]) =>
    body.replaceChildren(
      ...order.map((row) =>
        element(
          "tr",
          {},
          ...columns.map((column, at) => cellOf(rows[row][at], column, onRow && at === 0 ? () => onRow(row) : undefined)),
        ),
      ),
    );
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
  const table = element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...heads)), body);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}
