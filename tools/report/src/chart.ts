// A chart of bytes over time or over steps, as wide as its place.
import uPlot from "uplot";
import { BYTE_TICKS, bytesText, element } from "./text";

export interface BytesChart {
  label: string; // for screen readers
  height: number;
  series: uPlot.Series[]; // without the one of the x axis
  data: uPlot.AlignedData;
  xText: (value: number) => string;
  hooks?: uPlot.Hooks.Arrays;
}

// The color of text on the page, in the light and in the dark.
export function frontColor(): string {
  return getComputedStyle(document.body).color;
}

export function drawChart(place: HTMLElement, { label, height, series, data, xText, hooks }: BytesChart): uPlot {
  const axis = { stroke: frontColor, grid: { stroke: "#8884" } };
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, max * 1.05] } },
      axes: [
        { ...axis, values: (_plot, ticks) => ticks.map(xText) },
        { ...axis, size: 90, incrs: BYTE_TICKS, values: (_plot, ticks) => ticks.map(bytesText) },
      ],
      series: [{}, ...series.map((one) => ({ points: { show: false }, ...one }))],
      hooks,
    },
    data,
    place,
  );
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", `${label}; the table below has the numbers`);
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height })).observe(place);
  return plot;
}

export function chartPlace(): HTMLElement {
  return element("div", { class: "chart" });
}

export const secondsText = (s: number): string => `${s} s`;
