// Makes SVG elements. Their texts become text nodes, as those of element() do.
const SVG = "http://www.w3.org/2000/svg";

export function svgElement(name: string, attributes: Record<string, string | number>, title?: string): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (title !== undefined) {
    const text = document.createElementNS(SVG, "title");
    text.textContent = title;
    made.append(text);
  }
  return made;
}
