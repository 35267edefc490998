/** What an exported page does beside being read: search, open all, change the theme. Without it all is there and opens by hand. */

/** The page's only script. It makes no markup: what the session says never passes through it. */
export const pageScript = `
"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector) => document.querySelector(selector);
  const articles = [...document.querySelectorAll("article")];
  const [input, told, all, theme] = [".tools input", ".tools output", ".all", ".theme"].map(one);
  one(".tools").hidden = false;

  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("click", () => {
    const present = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = present === "dark" ? "light" : "dark";
  });

  let open = false;
  all.addEventListener("click", () => {
    open = !open;
    for (const details of document.querySelectorAll("details")) details.open = open;
    all.textContent = open ? "Close all" : "Open all";
  });

  // Folds that the search opened are closed again when it goes on.
  let opened = [];
  let ranges = [];
  let at = -1;
  const paint = () => {
    if (CSS.highlights) CSS.highlights.set("found", new Highlight(...ranges.slice(0, 5000)));
  };
  const say = () => {
    told.textContent = input.value.trim() === "" ? "" : ranges.length === 0 ? "nothing" : at < 0 ? String(ranges.length) : (at + 1) + " / " + ranges.length;
  };
  const rangesIn = (element, words) => {
    const found = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;
      for (const word of words) {
        for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + word.length)) {
          const range = new Range();
          range.setStart(node, from);
          range.setEnd(node, from + word.length);
          found.push(range);
        }
      }
    }
    return found.sort((a, b) => a.compareBoundaryPoints(Range.START_TO_START, b));
  };
  const search = () => {
    const words = input.value.toLowerCase().split(" ").filter((word) => word !== "");
    for (const details of opened) details.open = false;
    opened = [];
    ranges = [];
    at = -1;
    for (const article of articles) {
      const text = article.textContent.toLowerCase();
      const shown = words.every((word) => text.includes(word));
      article.classList.toggle("hidden", !shown);
      if (shown && words.length > 0) for (const range of rangesIn(article, words)) ranges.push(range);
    }
    for (const range of ranges) {
      for (let fold = range.startContainer.parentElement.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) {
        if (fold.querySelector("summary").contains(range.startContainer)) continue;
        fold.open = true;
        opened.push(fold);
      }
    }
    paint();
    say();
  };
  let waiting;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, articles.length > 500 ? 250 : 30);
  });
  const go = (by) => {
    if (ranges.length === 0) return;
    at = (at + by + ranges.length) % ranges.length;
    const range = ranges[at];
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    range.startContainer.parentElement.scrollIntoView({ block: "center" });
    say();
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      input.value = "";
      search();
      input.blur();
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  });
  // A link into the page leads to what it names, whatever the search hides.
  const arrive = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target === null) return;
    target.classList.remove("hidden");
    target.scrollIntoView();
  };
  addEventListener("hashchange", arrive);
})();
`

/** What the page's policy lets run: this script and no other. */
export const scriptHash = "sha256-Cj4FFimqmyg+F5bYGa1vJfzFZCIRPSBhAcZsfwZ8hjs="
