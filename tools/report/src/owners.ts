// The tree of owners: framework → component → module → kind of tensor. Parts of an owner's name are joined by "@".
import type { PageData } from "./data";
import { drawGraph, type Call } from "./flame";
import type { View } from "./main";
import { bytesText, element, timeText } from "./text";
import { tableOf } from "./table";

interface Owned {
  name: string;
  bytes: number;
  count: number;
}

function treeOf(owners: Owned[]): Call {
  const root: Call = { name: "All owners", value: 0, bytes: 0, count: 0, children: [], where: "", python: false };
  for (const owner of owners) {
    const parts = (owner.name || "no owner known").split("@");
    let at = root;
    for (const part of ["", ...parts]) {
      if (part) {
        let next = at.children.find(({ name }) => name === part);
        if (!next)
          at.children.push(
            (next = {
              name: part,
              value: 0,
              bytes: 0,
              count: 0,
              children: [],
              where: "",
              python: part.startsWith("py"),
            }),
          );
        at = next;
      }
      at.bytes = at.value += owner.bytes;
      at.count += owner.count;
    }
  }
  return root;
}

// The owners at a moment of the curves, which have only the largest owners and the sum of the others.
function ownersAt(data: PageData, moment: number): Owned[] {
  return data
    .series!.curves.filter((curve) => curve.by === "owner")
    .map((curve) => ({ name: curve.others ? "others" : (curve.name ?? ""), bytes: curve.bytes[moment], count: 0 }))
    .filter(({ bytes }) => bytes > 0);
}

export function showOwners({ data, place, settings, go }: View): void {
  const moments = data.series?.moments ?? [];
  const given = Number(settings.get("moment") ?? -1);
  const moment = Number.isInteger(given) && given >= 0 && given < moments.length ? given : -1;
  const owners = moment < 0 ? data.owners : ownersAt(data, moment);
  const total = owners.reduce((sum, owner) => sum + owner.bytes, 0);
  const when = moment < 0 ? (data.at ?? "the peak") : timeText(moments[moment]);
  place.append(element("h2", {}, `Owners at ${when}`));
  if (moments.length > 1) {
    const slider = element("input", {
      type: "range",
      min: "-1",
      max: String(moments.length - 1),
      value: String(moment),
      "aria-label": "Moment",
    });
    slider.addEventListener("change", () => go("owners", slider.value === "-1" ? {} : { moment: slider.value }));
    place.append(element("p", { class: "buttons" }, element("label", {}, "Moment (leftmost: the peak) ", slider)));
  }
  place.append(element("p", { "data-value": String(total), "data-total": "owners" }, `${bytesText(total)} in all`));
  if (total) drawGraph(place, { root: treeOf(owners), total, icicle: true, find: "" });
  place.append(
    tableOf({
      caption: `Owners at ${when}`,
      columns: [
        { name: "owner", unit: "text" },
        { name: "bytes", unit: "bytes" },
        ...(moment < 0 ? [{ name: "blocks", unit: "count" }] : []),
      ],
      rows: [...owners]
        .sort((a, b) => b.bytes - a.bytes)
        .map(({ name, bytes, count }) => [name || "no owner known", bytes, ...(moment < 0 ? [count] : [])]),
    }),
  );
}
