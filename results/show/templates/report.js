"use strict";
// Niceties only: without this script the page still shows everything but sorting.
for (const button of document.querySelectorAll("button.copy")) {
  const text = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      // A page from a file may be refused the clipboard: select the text and copy that.
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

// Columns sort by the value behind each cell: numbers by size, the rest by name.
const valueAt = (row, column) => row.cells[column].dataset.v;
function sortBy(table, heading, column) {
  const sorted = heading.getAttribute("aria-sort");
  // The first click brings the largest number or the first name to the top.
  const ascending = sorted ? sorted === "descending" : !heading.classList.contains("n");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [x, y] = [valueAt(a, column), valueAt(b, column)];
    const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
    return ascending ? order : -order;
  });
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
}
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if ("plain" in heading.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading, column));
    heading.append(button);
  });
}

// Browsers show a title only after a while; this shows it at once, and instead of it.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
for (const dot of document.querySelectorAll(".dot")) {
  const title = dot.querySelector("title");
  const text = title.textContent;
  title.remove();
  dot.setAttribute("aria-label", text);
  dot.addEventListener("pointerenter", (event) => {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = left + "px";
    tip.style.top = Math.max(event.clientY - tip.offsetHeight - 12, 4) + "px";
  });
  dot.addEventListener("pointerleave", () => { tip.hidden = true; });
}

// Paper cannot be unfolded.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
