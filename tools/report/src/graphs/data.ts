// The contents of the page. analysis/counts/graphs_html.cpp writes them, and a graph is as `msleaks cfg --json` has it.

export interface Block {
  id: number;
  file: string;
  line: number;
  count: number | null; // null: not known
  instructions: number;
  depth: number;
  loaded_bytes: number;
  stored_bytes: number;
  classes: Record<string, number>;
  ir?: string;
}

export interface Edge {
  name: string;
  from: number; // ids of blocks
  to: number;
  count: number | null;
  error?: number;
  state: string;
  kind: string;
  value?: string;
}

export interface Argument {
  number: number;
  reads: boolean;
  writes: boolean;
  begin: number | null;
  end: number | null;
}

export interface Graph {
  function: string;
  file: string;
  line: number;
  hash: string;
  mode: string;
  scale: number;
  calls: number;
  arguments: Argument[];
  blocks: Block[];
  edges: Edge[];
  // prepared() of picture.ts computes these:
  total: number; // instructions that ran
  most: number; // of one block
  hottest: number; // id of this block
  outOf: number[][]; // by block: numbers of edges
  into: number[][];
}

export interface Row {
  name: string;
  graphs: (number | null)[]; // by run
  instructions: (number | null)[];
  matched: boolean;
}

export interface Source {
  file: string;
  parts: { first: number; lines: string[] }[];
  missing: string;
  changed: boolean;
}

export interface Contents {
  runs: string[];
  functions: Row[];
  sources: Source[];
}

export interface DrawnEdge {
  path: string;
  arrow: number[];
  label: number[];
  side: number; // on which side of the line the label stands; 0: on the line
}

export interface Layout {
  left: number;
  width: number;
  height: number;
  blocks: { x: number; y: number; layer: number; at: number }[]; // the middles of blocks
  edges: DrawnEdge[];
}
