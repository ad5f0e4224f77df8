// Label the line under the cursor with a key: j and k move, 1 to 9 give a label, u takes back. The keys are those
// of the table alone, so that they reach nobody who types elsewhere. Without scripts, the form does the same.
"use strict";

const form = document.getElementById("labels");
const table = document.getElementById("lines");
const said = document.getElementById("said");

if (form && table) {
  const rows = [...table.querySelectorAll("tr[data-line]")];
  let at = -1;

  const move = (to) => {
    if (rows[at]) rows[at].removeAttribute("aria-current");
    at = Math.min(Math.max(to, 0), rows.length - 1);
    rows[at].setAttribute("aria-current", "true");
    rows[at].scrollIntoView({ block: "nearest" });
  };

  const show = (answer) => {
    for (const { line, label } of answer.rows) {
      const cell = table.querySelector(`tr[data-line="${line}"] td.own`);
      if (cell) cell.textContent = label ?? "";
    }
  };

  // One after the other, in the order of the keys: u takes back what was pressed before it.
  let last = Promise.resolve();
  const ask = (path, asked, tell) => {
    last = last.then(async () => {
      try {
        const response = await fetch(`${form.dataset.url}/${path}`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ labeler: form.elements.labeler.value, ...asked }),
        });
        const answer = await response.json();
        if (!response.ok) throw new Error(answer.detail);
        show(answer);
        said.textContent = tell(answer);
      } catch (error) {
        said.textContent = `Not saved: ${error.message}`;
      }
    });
  };

  table.addEventListener("focus", () => { if (at < 0) move(0); });
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-line]");
    if (row) move(rows.indexOf(row));
  });
  table.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "j") move(at + 1);
    else if (event.key === "k") move(at - 1);
    else if (!form.elements.labeler.value) return;
    else if (event.key === "u") {
      ask("undo", {}, (answer) => `taken back: ${answer.rows.map((row) => `line ${row.line}`).join(", ")}`);
    } else {
      const button = form.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
      if (!button || at < 0) return;
      const line = rows[at].dataset.line, label = button.value;
      ask("labels", { lines: line, label }, () => `line ${line}: ${label}`);
      move(at + 1);
    }
    event.preventDefault();
  });
}
