// SPDX-License-Identifier: Apache-2.0
"use strict";
const grid = document.getElementById("grid");
const rows = new Map(); // number of a row: its elements
for (const e of grid.querySelectorAll("[data-r]")) {
  if (!rows.has(e.dataset.r)) rows.set(e.dataset.r, []);
  rows.get(e.dataset.r).push(e);
}
const names = new Map(); // name of a node: where it is read
for (const e of grid.querySelectorAll("i")) {
  if (!names.has(e.textContent)) names.set(e.textContent, []);
  names.get(e.textContent).push(e);
}
const heads = [...grid.querySelectorAll(".head")];
const quiet = new Set(heads.filter((h) => h.classList.contains("closed")));

function layout() {
  grid.style.gridTemplateColumns = "190px " + heads.map((h) => (h.classList.contains("closed") ? "26px" : "250px")).join(" ");
}

grid.addEventListener("click", (event) => {
  const head = event.target.closest(".head");
  if (head) {
    head.classList.toggle("closed");
    layout();
    return;
  }
  const cell = event.target.closest("[data-r]");
  if (!cell || String(getSelection())) return;
  const row = rows.get(cell.dataset.r);
  const on = !row[0].classList.contains("on");
  for (const e of row) e.classList.toggle("on", on);
  const name = row.find((e) => e.classList.contains("name")).textContent;
  for (const e of names.get(name) || []) e.classList.toggle("on", on);
});
document.getElementById("find").addEventListener("input", (event) => {
  for (const row of rows.values()) {
    const away = !row.find((e) => e.classList.contains("name")).textContent.includes(event.target.value);
    for (const e of row) e.classList.toggle("away", away);
  }
});
document.getElementById("fixed").addEventListener("change", (event) =>
  document.body.classList.toggle("constants", event.target.checked));
document.getElementById("all").addEventListener("change", (event) =>
  document.body.classList.toggle("short", !event.target.checked));
document.getElementById("open").addEventListener("click", () => {
  for (const h of heads) h.classList.remove("closed");
  layout();
});
document.getElementById("quiet").addEventListener("click", () => {
  for (const h of heads) h.classList.toggle("closed", quiet.has(h));
  layout();
});
