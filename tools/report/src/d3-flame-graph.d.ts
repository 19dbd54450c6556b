// The part of d3-flame-graph that the page uses. The library has no types of its own.
declare module "d3-flame-graph" {
  interface Node<Datum> {
    data: Datum;
    highlight?: boolean;
  }
  interface FlameGraph<Datum> {
    (selection: unknown): void;
    width(px: number): this;
    cellHeight(px: number): this;
    inverted(rootAtTop: boolean): this;
    minFrameSize(px: number): this;
    sort(order: (a: Node<Datum>, b: Node<Datum>) => number): this;
    transitionDuration(ms: number): this;
    tooltip(shown: false): this;
    getName(name: (node: Node<Datum>) => string): this;
    setColorMapper(color: (node: Node<Datum>) => string): this;
    setLabelHandler(label: (node: Node<Datum>) => string): this;
    setDetailsHandler(show: (text: string | null) => void): this;
    setSearchMatch(match: (node: Node<Datum>, term: string) => boolean): this;
    search(term: string): void;
    clear(): void;
  }
  function flamegraph<Datum>(): FlameGraph<Datum>;
  export default flamegraph;
}
