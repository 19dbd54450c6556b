// Shows one view of the page at a time. The address's fragment names the view and its settings, so a view can be linked to and the
// browser's back button works: #memory&by=owner&name=imports
import "uplot/dist/uPlot.min.css";
import "../node_modules/d3-flame-graph/dist/d3-flamegraph.css"; // the package does not export it
import "./page.css";
import { readData, type PageData } from "./data";
import { showFlame } from "./flame";
import { showMemory } from "./memory";
import { showOwners } from "./owners";
import { showSteps } from "./steps";
import { showSummary } from "./summary";
import { showTables } from "./tables";
import { element } from "./text";

export interface View {
  data: PageData;
  place: HTMLElement; // an empty element, which the view fills
  settings: Map<string, string>;
  go: (view: ViewName, settings?: Record<string, string>) => void;
}

const VIEWS = {
  summary: { title: "Summary", show: showSummary },
  memory: { title: "Memory over time", show: showMemory },
  owners: { title: "Owners", show: showOwners },
  flame: { title: "Flame graph", show: showFlame },
  steps: { title: "Steps", show: showSteps },
  tables: { title: "Tables", show: showTables },
};
export type ViewName = keyof typeof VIEWS;

function parseFragment(): [ViewName, Map<string, string>] {
  const [name, ...pairs] = location.hash.slice(1).split("&");
  const settings = new Map<string, string>();
  for (const pair of pairs) {
    const [key, value] = pair.split("=");
    try {
      settings.set(key, decodeURIComponent(value ?? ""));
    } catch {
      // A fragment that somebody has cut in the middle of an escape.
    }
  }
  return [name in VIEWS ? (name as ViewName) : "summary", settings];
}

function go(view: ViewName, settings: Record<string, string> = {}): void {
  const pairs = Object.entries(settings).map(([key, value]) => `&${key}=${encodeURIComponent(value)}`);
  location.hash = `#${view}${pairs.join("")}`;
}

function main(): void {
  const data = readData();
  const tabs = new Map<ViewName, HTMLAnchorElement>();
  const navigation = document.querySelector("nav")!;
  for (const [name, { title }] of Object.entries(VIEWS)) {
    if (name === "steps" && !data.series?.steps.length) continue;
    const tab = element("a", { href: `#${name}` }, title);
    tabs.set(name as ViewName, tab);
    navigation.append(tab);
  }
  const show = () => {
    const [name, settings] = parseFragment();
    for (const [other, tab] of tabs) tab.toggleAttribute("aria-current", other === name);
    const place = element("main", { "data-view": name });
    document.querySelector("main")!.replaceWith(place);
    VIEWS[name].show({ data, place, settings, go });
  };
  window.addEventListener("hashchange", show);
  show();
}

main();
