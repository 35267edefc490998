/** How an exported page looks, light and dark. */

/** The page's style sheet. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: light-dark(#faf9f7, #16171a); --card: light-dark(#ffffff, #1d1f23); --sunk: light-dark(#f4f2ee, #131417);
  --line: light-dark(#e6e2da, #2d3037); --text: light-dark(#23252a, #dfe1e6); --dim: light-dark(#6f7078, #8f939d);
  --you: light-dark(#eef1fd, #232a42); --youline: light-dark(#c9d3f8, #37426b); --accent: light-dark(#3d56c9, #94a7ff);
  --model: light-dark(#2f9c95, #45b8ae); --tool: light-dark(#e0a03c, #d9a24a); --hook: light-dark(#a66bd4, #b98be0); --bad: light-dark(#c9403a, #f07b74);
  --good: light-dark(#2b8a4b, #6fcf8e); --added: light-dark(#e4f5e8, #16301f); --removed: light-dark(#fceae8, #391c1c); --found: light-dark(#ffe08a, #7a5c00);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
main { display: flex; flex-direction: column; max-width: 60rem; margin: 0 auto; padding: 0 1.25rem 4rem; }
.bar { position: sticky; top: 0; z-index: 1; background: color-mix(in srgb, var(--page) 88%, transparent); backdrop-filter: blur(10px); border-bottom: 1px solid var(--line); }
.bar > div { display: flex; gap: 1rem; align-items: center; max-width: 60rem; margin: 0 auto; padding: .6rem 1.25rem; min-height: 3.1rem; }
.bar b { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; }
.tools:not([hidden]) { display: flex; gap: .5rem; align-items: center; }
.tools output { color: var(--dim); font-size: .82rem; white-space: nowrap; min-width: 3.2rem; text-align: right; font-variant-numeric: tabular-nums; }
.tools input { width: 14rem; }
.tools input, .tools button { font: inherit; font-size: .86rem; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .65rem; }
.tools button { cursor: pointer; white-space: nowrap; }
.tools button:hover { border-color: var(--dim); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.about { order: 0; padding: 2.2rem 0 1.2rem; }
h1 { font-size: 1.65rem; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 .5rem; font-weight: 650; text-wrap: balance; }
.about p { margin: 0; color: var(--dim); font-size: .86rem; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; }
.overview { order: 1; background: var(--card); border: 1px solid var(--line); border-radius: .9rem; padding: 1.1rem 1.25rem; margin-bottom: 1.6rem; }
.sums { display: flex; flex-wrap: wrap; gap: .6rem 2.1rem; }
.sums div { display: flex; flex-direction: column; }
.sums b { font-size: 1.3rem; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums; letter-spacing: -.01em; }
.sums span { color: var(--dim); font-size: .8rem; }
figure { margin: 1.1rem 0 0; padding-top: .9rem; border-top: 1px solid var(--line); overflow-x: auto; }
svg { display: block; width: 100%; min-width: 38rem; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--dim); }
svg text.row { text-anchor: end; }
svg text.tick { text-anchor: middle; }
svg text.said { text-anchor: middle; fill: var(--accent); font-weight: 600; }
svg path.grid { stroke: var(--line); }
svg path.said { stroke: var(--accent); stroke-opacity: .45; }
svg path.pause { stroke: var(--dim); stroke-opacity: .6; stroke-dasharray: 2 3; fill: none; }
svg rect.model { fill: var(--model); } svg rect.tool { fill: var(--tool); } svg rect.hook { fill: var(--hook); } svg rect.failed { fill: var(--bad); }
svg rect { stroke: var(--card); stroke-width: .5; }
svg a:hover rect { opacity: .7; }
.talk { order: 2; }
footer { order: 3; color: var(--dim); font-size: .8rem; text-align: center; padding-top: 2rem; }
.note { color: var(--dim); font-size: .86rem; margin: .8rem 0 0; }
article { margin: 0 0 1.1rem; content-visibility: auto; contain-intrinsic-size: auto 8rem; }
article > header { display: flex; align-items: baseline; gap: .5rem; font-size: .84rem; margin-bottom: .35rem; }
article > header:empty { display: none; }
article > header a, article > header .model { color: var(--dim); text-decoration: none; }
article:target { scroll-margin-top: 4.5rem; }
article:target > header b { color: var(--accent); }
.figures { margin-left: auto; color: var(--dim); font-size: .8rem; white-space: nowrap; font-variant-numeric: tabular-nums; padding-left: .8rem; }
time { font-variant-numeric: tabular-nums; }
.user { background: var(--you); border: 1px solid var(--youline); border-radius: .9rem; padding: .75rem 1.1rem .85rem; margin: 1.9rem 0 1.3rem; }
.custom { background: var(--card); border: 1px solid var(--line); border-left: 3px solid var(--hook); border-radius: .5rem; padding: .6rem 1rem; }
.row { color: var(--dim); font-size: .84rem; margin-bottom: .7rem; }
.row > header { margin: 0; padding: .15rem .8rem; }
.row .more { padding: 0 .8rem; }
.row .call, .row .prose { color: var(--text); }
.step { padding-left: 1rem; border-left: 2px solid color-mix(in srgb, var(--model) 45%, transparent); }
.prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; }
.prose { margin: .35rem 0; unicode-bidi: isolate; }
.prose p { margin: .55rem 0; } .prose ul, .prose ol { margin: .5rem 0; padding-left: 1.5rem; } .prose li { margin: .15rem 0; }
.place { color: var(--dim); font: .84em var(--mono); }
blockquote { margin: .55rem 0; padding: .1rem .9rem; border-left: 3px solid var(--line); color: var(--dim); }
.table { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .92em; } th, td { border: 1px solid var(--line); padding: .3rem .7rem; text-align: left; } th { background: var(--sunk); font-weight: 600; }
.heading { font-weight: 650; font-size: 1.06rem; }
code { font: .88em var(--mono); background: var(--sunk); border: 1px solid var(--line); border-radius: .3rem; padding: .05em .35em; }
pre { font: 12.5px/1.55 var(--mono); background: var(--sunk); border: 1px solid var(--line); border-radius: .55rem; padding: .65rem .85rem; margin: .5rem 0; white-space: pre-wrap; max-height: 34rem; overflow: auto; unicode-bidi: isolate; tab-size: 4; }
details > summary { cursor: pointer; list-style: none; display: flex; align-items: baseline; gap: .5rem; min-width: 0; }
summary::-webkit-details-marker { display: none; }
summary::before { content: ""; flex: none; align-self: center; width: .36rem; height: .36rem; border: solid var(--dim); border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg); transition: transform .12s; }
details[open] > summary::before { transform: rotate(45deg); }
.thinking { color: var(--dim); font-size: .9rem; margin: .35rem 0; }
.thinking > summary { font-style: italic; }
.thinking > .prose { border-left: 2px solid var(--line); padding-left: .9rem; margin-left: .15rem; }
.call { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: .45rem 0; font-size: .9rem; }
.call > summary { padding: .42rem .8rem; }
.call > summary:hover { background: var(--sunk); border-radius: .6rem; }
.call > :not(summary) { margin-left: .8rem; margin-right: .8rem; }
.call > :last-child:not(summary) { margin-bottom: .8rem; }
.call[open] > summary { border-bottom: 1px solid var(--line); border-radius: .6rem .6rem 0 0; margin-bottom: .7rem; }
.call > summary > b { font: 600 .86rem var(--mono); color: light-dark(#96620c, #e2b263); }
.about, .call { min-width: 0; }
.call .about { padding: 0; flex: 1; font: .84rem var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.failed, .lost { border-color: color-mix(in srgb, var(--bad) 45%, var(--line)); }
.failed > summary > b, .bad, .removed { color: var(--bad) !important; }
.added { color: var(--good); }
h4 { font-size: .74rem; letter-spacing: .05em; text-transform: uppercase; color: var(--dim); margin: .7rem 0 .3rem; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem .9rem; margin-top: 0; margin-bottom: .4rem; }
dt { font: .82rem var(--mono); color: var(--dim); padding-top: .12rem; } dd { margin: 0; } dd pre { margin: 0; padding: .1rem .5rem; }
.diff span { display: block; margin: 0 -.85rem; padding: 0 .85rem; }
.diff .add { background: var(--added); color: var(--good); } .diff .del { background: var(--removed); } .diff .at, .diff .file { color: var(--dim); }
.left { display: block; color: var(--dim); font-style: italic; padding: .3rem 0; }
.aside, .cut { color: var(--dim); font-size: .86rem; margin: .4rem 0; } .cut { color: var(--bad); } .url { font-family: var(--mono); }
img { max-width: 100%; max-height: 30rem; border-radius: .5rem; border: 1px solid var(--line); display: block; margin: .5rem 0; }
.hidden { display: none; }
::highlight(found) { background: var(--found); color: var(--text); }
@media (max-width: 46rem) { .bar b { display: none; } .tools { flex: 1; } .tools input { flex: 1; min-width: 0; width: auto; } .all { display: none; } .usage { display: none; } }
@media print { .bar { display: none; } article { content-visibility: visible; } pre { max-height: none; } }
`

/** What the page's policy lets through: this sheet and no other. */
export const styleHash = "sha256-2U7++Cf9ZcdfOmTD1KubGnoTaDNxPpyfBOmmPD7ATjY="
