// All tables of the report, one at a time.
import type { View } from "./main";
import { choice, element } from "./text";
import { tableOfData } from "./table";

export function showTables({ data, place, settings, go }: View): void {
  place.append(element("h2", {}, "Tables"));
  const titles = Object.fromEntries(data.tables.map(({ name, title }) => [name, title]));
  const table = data.tables.find(({ name }) => name === settings.get("table")) ?? data.tables[0];
  if (!table) {
    place.append(element("p", {}, "The report has no tables."));
    return;
  }
  place.append(
    element(
      "p",
      { class: "buttons" },
      choice("Table", titles, table.name, (name) => go("tables", { table: name })),
    ),
  );
  place.append(tableOfData(table));
}
