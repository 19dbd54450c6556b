// Bundles the two pages, and writes them as C++ strings: FOLDER/report_page.inc for analysis/page and FOLDER/graphs_page.inc for analysis/counts. A
// list of strings has the parts of a page, and between two parts the name of what the page is filled with, such as its title or its data.
//
//     node build.mjs FOLDER
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const MOST_CHARACTERS = 60000; // of one string literal: clang warns of more than 65,536

async function bundle(entry) {
  const made = await build({
    entryPoints: [entry],
    outdir: "out",
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii", // so the script's hash does not depend on the encoding
    legalComments: "none", // licencesOf() has whole texts
    logLevel: "warning",
    metafile: true,
  });
  const textOf = (ending) => made.outputFiles.find(({ path }) => path.endsWith(ending)).text.trim();
  return {
    script: (licencesOf(made.metafile) + textOf(".js")).replaceAll("</script", "<\\/script"),
    style: textOf(".css"),
  };
}

// Returns a comment with the licence of each library that is in the bundle.
function licencesOf({ inputs }) {
  const names = new Set(
    Object.keys(inputs).flatMap((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
  );
  const texts = [...names].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    return `${name} ${version}, ${license}\n${file ? readFileSync(`${folder}/${file}`, "utf8").trim() : ""}`;
  });
  if (!names.size) return "";
  return `/*! This page contains these libraries:\n\n${texts.join("\n\n").replaceAll("*/", "* /").replaceAll("\r", "")}\n*/\n`;
}

function literalsOf(text) {
  const literals = [];
  for (let at = 0; at < text.length; at += MOST_CHARACTERS)
    literals.push(`R"page(${text.slice(at, at + MOST_CHARACTERS)})page"`);
  return literals;
}

// Writes the list `name` to `output`. `marks`: what the page is filled with.
async function writePage(output, name, { entry, page, marks }) {
  const { script, style } = await bundle(entry);
  const filled = readFileSync(page, "utf8")
    .replace("{{hash}}", () => createHash("sha256").update(script).digest("base64"))
    .replace("{{style}}", () => style)
    .replace("{{script}}", () => script);
  if (filled.includes(')page"')) throw new Error('the page contains )page", which ends a literal');
  const entries = filled
    .split(new RegExp(`(\\{\\{(?:${marks.join("|")})\\}\\})`))
    .flatMap((part) => (part.startsWith("{{") ? [`"${part}"`] : literalsOf(part)));
  writeFileSync(`${output}.new`, `inline constexpr std::string_view ${name}[] = {\n${entries.join(",\n")}};\n`);
  renameSync(`${output}.new`, output);
}

const folder = process.argv[2];
await writePage(`${folder}/report_page.inc`, "kPage", {
  entry: "src/main.ts",
  page: "src/page.html",
  marks: ["title", "data", "connect"],
});
await writePage(`${folder}/graphs_page.inc`, "kGraphsPage", {
  entry: "src/graphs/page.ts",
  page: "src/graphs/page.html",
  marks: ["title", "graphs"],
});
