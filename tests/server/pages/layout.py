"""What tests ask a page about its layout, and the windows in which they do."""

from __future__ import annotations

#: Pixels: a telephone, a tablet, a laptop, a large screen.
WIDTHS = (375, 768, 1280, 1920)
#: Each table that is wider than its box: its box, the width of the table, that of the box.
LEAVING = """() => [...document.querySelectorAll('main table')].filter(table => table.checkVisibility())
.map(table => [table, table.closest('.scroll, section, .answer, main')])
.map(([table, box]) => [box.getAttribute('aria-label'), table.offsetWidth, box.clientWidth])
.filter(([, table, box]) => table > box)"""
#: Cells of records that do not say in which column they are.
UNLABELED = """() => [...document.querySelectorAll('table.records tbody tr')].flatMap(row => {
  const heads = [...row.closest('table').tHead.rows[0].cells].map(cell => cell.textContent.trim());
  return [...row.cells].slice(1).filter(cell => cell.colSpan === 1 && cell.innerText.trim()
    && cell.dataset.label !== heads[[...row.cells].indexOf(cell)]).map(cell => cell.outerHTML);
})"""
#: Words in the heads of columns that are broken over lines; names may be broken behind an underscore.
BROKEN = """() => [...document.querySelectorAll('main thead th')].filter(head => head.checkVisibility())
.flatMap(head => {
  const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT), broken = [];
  for (let text; (text = walker.nextNode());) {
    for (const word of text.data.matchAll(/[^\\s_-]+[_-]*/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = [...range.getClientRects()].filter(line => line.width).map(line => Math.round(line.top));
      if (new Set(lines).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""
