// The contents of a page, as analysis/page/page_data.cpp writes them. Bytes, and times in ns, are whole numbers.

export interface Frame {
  text: string; // the function, or the library and the offset
  file: string | null;
  line: number | null;
  library: string | null;
  python: boolean;
}

// Returns the file and line of a call, or else its library.
export function placeOf({ file, line, library }: Frame): string {
  return file === null ? (library ?? "") : line === null ? file : `${file}:${line}`;
}

// [number of the frame, -1 = the frames that are left out; bytes; blocks; calls]
export type FlameNode = [number, number, number, FlameNode[]];

export interface Finding {
  id: string;
  number: number; // in the whole list
  kind: string;
  confidence: string;
  title: string;
  where: string; // lines
  file: string | null;
  line: number | null;
  owner: string;
  saving: string;
  saves_bytes: number;
  holders: string;
  advice: string;
  evidence: Record<string, unknown>;
  frames: number[]; // of the path with the most bytes, the innermost first
}

export interface Curve {
  by: "total" | "account" | "owner" | "type" | "place" | "finding";
  name: string | null; // the id of a finding
  heap: string | null;
  device?: number | null; // only of memory on a device
  others: boolean;
  peak_bytes: number;
  bytes: number[];
}

export interface Step {
  process: number;
  pid: number;
  first: number;
  last: number;
  begin_ns: number;
  end_ns: number;
  peak_bytes: number;
  end_bytes: number;
  launches: number;
}

export interface Series {
  moments: number[]; // ns since the start
  curves: Curve[];
  steps: Step[];
  steps_left_out: number;
}

// Part; bytes and blocks that were born, that were freed, and that came or went in another way (result/pictures.h).
export type PartChange = [number, number, number, number, number, number, number];

export interface Turnover {
  edges: number[]; // begins of the parts, and the end of the last one: ns since the start
  lines: { place: string | null; before: [number, number]; changes: PartChange[] }[]; // null: all other places
  launches: { kernel: string; others: boolean; counts: [number, number][] }[];
}

// Cells that look the same; bytes that are used in all of them; the place of most of these bytes.
export type CellRun = [number, number, number];

export interface Segment {
  heap: string;
  device: number;
  pid: number;
  address: string;
  bytes: number;
  used_bytes: number;
  place: number;
  runs: CellRun[]; // from the segment's begin to its end
}

export interface Pools {
  places: string[];
  segments: Segment[];
  segments_in_all: number;
}

export interface Table {
  name: string;
  title: string;
  columns: { name: string; unit: string }[];
  rows: (string | number | null)[][];
  rows_in_all: number;
}

export interface Source {
  file: string;
  parts: { first: number; lines: string[] }[];
  missing: string;
  changed: boolean;
}

export interface Flame {
  bytes: number;
  count: number;
  root: FlameNode;
}

export interface PageData {
  run: string;
  command: string[];
  at: string | null;
  duration_ns: number;
  complete: boolean;
  events: { stored: number; dropped: number; missing: number };
  peak: { bytes: number; since_start_ns: number; resident_bytes: number | null };
  floor_bytes: number | null;
  leaks: { bytes: number; count: number };
  kept_by_libraries: { bytes: number; count: number };
  findings: Finding[];
  findings_in_all: number;
  frames: Frame[];
  flames: Record<"peak" | "leaks" | "allocated", Flame>;
  owners: { name: string; bytes: number; count: number }[]; // at the peak
  series: Series | null;
  turnover: Turnover | null;
  pools: Pools | null;
  tables: Table[];
  sources: Source[];
  notes: string[];
}

// Bytes before the launch, after it, and at its peak.
export type LaunchMemory = [number, number, number];

export interface AlignedLaunch {
  name: string;
  kind: "launch" | "range";
  device: number | null; // null: the host
  process: number;
  state: "same" | "changed" | "new" | "gone";
  before: LaunchMemory | null; // in the first run
  after: LaunchMemory | null; // in the second run
  same_before: number; // equal launches that are left out before it
  same_after: number; // after the last one of its sequence
}

export interface AlignedLaunches {
  same: number;
  coarse: boolean;
  rows: AlignedLaunch[];
  differing_left_out: number;
}

export interface Comparison {
  first: string; // the names of the runs, as the user wrote them
  second: string;
  sentence: string;
  at: string;
  before_bytes: number;
  after_bytes: number;
  findings: { state: string; title: string }[]; // of one run only
  launches: AlignedLaunches | null;
  tables: Table[];
}

export interface PageFile {
  runs: PageData[]; // one, or the two that are compared
  comparison: Comparison | null;
  live: { every_ms: number } | null; // the session still runs: ask for new data after this time
}

export function readData(): PageFile {
  return JSON.parse(document.getElementById("data")!.textContent!) as PageFile;
}
