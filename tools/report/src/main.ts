// Shows one view of the page at a time. The address's fragment names the view and its settings, so a view can be linked to and the
// browser's back button works: #memory&by=owner&name=imports
import "uplot/dist/uPlot.min.css";
import "../node_modules/d3-flame-graph/dist/d3-flamegraph.css"; // the package does not export it
import "./page.css";
import { blocksOf, showBlocks } from "./blocks";
import { showCompare } from "./compare";
import { readData, type PageData, type PageFile } from "./data";
import { showFlame } from "./flame";
import { follow } from "./live";
import { showMemory } from "./memory";
import { showOwners } from "./owners";
import { showPools } from "./pools";
import { showSteps } from "./steps";
import { showSummary } from "./summary";
import { showTables } from "./tables";
import { choice, element } from "./text";

export interface View {
  file: PageFile;
  data: PageData; // of the run that is shown
  place: HTMLElement; // an empty element, which the view fills
  settings: Map<string, string>;
  go: (view: ViewName, settings?: Record<string, string>) => void;
  note: (settings: Record<string, string>) => void; // changes the address, but neither the page nor the browser's history
}

const VIEWS = {
  compare: { title: "Comparison", show: showCompare },
  summary: { title: "Summary", show: showSummary },
  memory: { title: "Memory over time", show: showMemory },
  owners: { title: "Owners", show: showOwners },
  flame: { title: "Flame graph", show: showFlame },
  blocks: { title: "Blocks", show: showBlocks },
  pools: { title: "Pools", show: showPools },
  steps: { title: "Steps", show: showSteps },
  tables: { title: "Tables", show: showTables },
};
export type ViewName = keyof typeof VIEWS;

function parseFragment(first: ViewName): [ViewName, Map<string, string>] {
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
  return [name in VIEWS ? (name as ViewName) : first, settings];
}

function addressOf(view: ViewName, settings: Record<string, string>): string {
  const pairs = Object.entries(settings).map(([key, value]) => `&${key}=${encodeURIComponent(value)}`);
  return `#${view}${pairs.join("")}`;
}

function go(view: ViewName, settings: Record<string, string> = {}): void {
  location.hash = addressOf(view, settings);
}

// The views that this page has, in the order of their tabs.
function viewsOf(file: PageFile): ViewName[] {
  const has: Partial<Record<ViewName, unknown>> = {
    compare: file.comparison !== null,
    blocks: file.runs.every(blocksOf),
    pools: file.runs.some((run) => run.pools?.segments.length),
    steps: file.runs.some((run) => run.series?.steps.length),
  };
  return (Object.keys(VIEWS) as ViewName[]).filter((name) => !(name in has) || has[name]);
}

function main(): void {
  let file = readData();
  let views: ViewName[];
  let tabs: Map<ViewName, HTMLElement>;
  const makeTabs = () => {
    views = viewsOf(file);
    tabs = new Map(views.map((name) => [name, element("a", {}, VIEWS[name].title)]));
    document.querySelector("nav")!.replaceChildren(...tabs.values());
  };
  const header = document.querySelector("header")!;
  const choices = element("p", { class: "buttons" });
  header.append(choices);

  const show = () => {
    const [asked, settings] = parseFragment(views[0]);
    const name = views.includes(asked) ? asked : views[0];
    const run = settings.get("run") === "B" && file.runs.length > 1 ? "B" : "A";
    const withRun = (wanted: Record<string, string>) => (run === "B" ? { run, ...wanted } : wanted);
    const goOn = (view: ViewName, wanted: Record<string, string> = {}) => go(view, withRun(wanted));
    const note = (wanted: Record<string, string>) => history.replaceState(null, "", addressOf(name, withRun(wanted)));
    for (const [view, tab] of tabs) {
      if (view === name) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
      tab.setAttribute("href", `#${view}${run === "B" ? "&run=B" : ""}`);
    }
    if (file.comparison && name !== "compare")
      choices.replaceChildren(
        choice("Run", { A: `A: ${file.comparison.first}`, B: `B: ${file.comparison.second}` }, run, (next) =>
          go(name, next === "B" ? { run: next } : {}),
        ),
      );
    else choices.replaceChildren();
    const place = element("main", { "data-view": name });
    document.querySelector("main")!.replaceWith(place);
    VIEWS[name].show({ file, data: file.runs[run === "B" ? 1 : 0], place, settings, go: goOn, note });
  };
  const showFile = () => {
    makeTabs();
    show();
  };
  window.addEventListener("hashchange", show);
  showFile();
  if (file.live)
    follow(header, file.live.every_ms, (next) => {
      file = next;
      const { scrollX, scrollY } = window;
      showFile();
      window.scrollTo(scrollX, scrollY);
    });
}

main();
