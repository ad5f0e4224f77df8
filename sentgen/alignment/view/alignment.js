// Words that belong together light up together: under the pointer, or with the focus, which arrow keys move; n and
// p go to the next and the previous word in the states that are looked for.
// Where the page has reasons, words with the focus show theirs, and a slider links words anew by its threshold.
for (const root of document.querySelectorAll(".alignment")) {
  // A notebook has this script once for each of its alignments.
  if (root.dataset.ready) continue;
  root.dataset.ready = "yes";
  const tip = root.querySelector(".tip");
  const blocks = (part) => (part.dataset.b ? part.dataset.b.split(" ") : []);
  const panes = [...root.querySelectorAll(".pane")];
  let parts = new Map(), stops = new Map(), lit = [];
  const index = () => {
    parts = new Map();
    for (const part of root.querySelectorAll("[data-b]"))
      for (const block of blocks(part)) parts.set(block, [...(parts.get(block) || []), part]);
    for (const pane of panes) {
      stops.set(pane, [...pane.querySelectorAll("[data-b]")]);
      if (stops.get(pane).length) stops.get(pane)[0].tabIndex = 0;
    }
  };
  const show = (part) => {
    lit.forEach((one) => one.classList.remove("on"));
    lit = part ? blocks(part).flatMap((block) => parts.get(block)) : [];
    lit.forEach((one) => one.classList.add("on"));
    root.classList.toggle("picked", lit.length > 0);
    tip.textContent = part?.closest(".pane") ? part.title : "";
  };
  const focused = () => document.activeElement.closest?.(".alignment [data-b]");
  const bring = (part) => {
    const own = part.closest(".pane");
    for (const pane of panes) {
      const other = lit.find((one) => one !== part && one.closest(".pane") === pane);
      if (pane === own || !other) continue;
      const top = other.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
      if (top < pane.scrollTop + 20 || top > pane.scrollTop + pane.clientHeight - 40)
        pane.scrollTo({ top: top - pane.clientHeight / 3, behavior: "smooth" });
    }
  };
  root.addEventListener("pointerover", (event) => show(event.target.closest("[data-b]") || focused()));
  root.addEventListener("pointerleave", () => show(focused()));
  root.addEventListener("focusin", (event) => {
    const part = event.target.closest("[data-b]");
    show(part);
    if (!part) return;
    if (panes[0].contains(part)) last = part;
    bring(part);
    explain(part);
  });
  root.addEventListener("focusout", () => show(null));
  const go = (pane, to) => {
    stops.get(pane).forEach((stop) => (stop.tabIndex = stop === to ? 0 : -1));
    to.focus();
  };
  let last = null, states = ".changed, .new";
  const next = (by) => {
    const found = stops.get(panes[0]).filter((stop) => stop.matches(states) || stop.querySelector(states));
    const all = stops.get(panes[0]), at = all.indexOf(last);
    const to = by > 0 ? found.find((stop) => all.indexOf(stop) > at) ?? found[0]
      : found.findLast((stop) => all.indexOf(stop) < at) ?? found.at(-1);
    if (to) go(panes[0], to);
  };
  root.querySelector(".legend").addEventListener("click", (event) => {
    const link = event.target.closest("[data-state]");
    if (!link) return;
    event.preventDefault();
    states = `.${link.dataset.state}`;
    next(1);
  });
  root.addEventListener("keydown", (event) => {
    const by = { n: 1, p: -1 }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input")) return;
    event.preventDefault();
    next(by);
  });
  for (const pane of panes) {
    pane.addEventListener("click", (event) => {
      const part = event.target.closest("[data-b]");
      if (part) go(pane, part);
    });
    pane.addEventListener("keydown", (event) => {
      const all = stops.get(pane), at = all.indexOf(document.activeElement);
      if (at < 0) return;
      if (event.key === "Escape") return document.activeElement.blur();
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 }[event.key]
        ?? { Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (all[to]) go(pane, all[to]);
    });
  }
  index();

  // What follows is for pages with reasons: a row of their table is a word of the summary, s, with one of the
  // document, d, and the posterior p of their link, the best one of a word first.
  const table = root.querySelector(".reasons table"), why = root.querySelector(".why");
  const rows = table ? [...table.tBodies[0].rows].map((row) => (
    { row, number: row.cells[0], s: +row.dataset.s, d: +row.dataset.d, p: +(row.dataset.p ?? -1) })) : [];
  const byWord = new Map();
  for (const one of rows) byWord.set(one.s, [...(byWord.get(one.s) || []), one]);
  function explain(part) {
    if (!table) return;
    const numbers = blocks(part).filter((block) => /^\d/.test(block));
    // Of linked words their links, of a new word all that it could come from.
    const told = numbers.length
      ? rows.filter((one) => numbers.includes(one.number.textContent))
      : [...part.querySelectorAll("[data-s]")].flatMap((word) => byWord.get(+word.dataset.s));
    if (!told.length) return;
    const copy = table.cloneNode(false), body = document.createElement("tbody");
    body.append(...told.map((one) => one.row.cloneNode(true)));
    for (const row of body.rows) row.hidden = false;
    copy.append(table.tHead.cloneNode(true), body);
    why.querySelector("div").replaceChildren(copy);
    why.hidden = false;
  }
  if (!table) continue;
  const close = () => (why.hidden = true);
  why.querySelector("button").addEventListener("click", close);
  root.addEventListener("keydown", (event) => event.key === "Escape" && close());

  const control = root.querySelector(".threshold"), slider = control.querySelector("input"), back = control.querySelector("button");
  const counts = root.querySelector(".counts"), [changed, unlinked] = root.querySelectorAll(".figures b");
  const svg = root.querySelector("svg"), [left, top, wide, high] = svg.dataset.grid.split(" ").map(Number);
  const beside = svg.querySelectorAll('text[text-anchor="end"]'), byCell = svg.classList.contains("words");
  const place = { s: new Map(), d: new Map() };
  for (const side of ["s", "d"])
    for (const word of root.querySelectorAll(`.pane [data-${side}]`))
      place[side].set(+word.dataset[side], word.closest("p").querySelector(".n").textContent);
  // Only sentences with words that may be linked change: these words, and the text between them.
  const flat = (node) => node.nodeName === "SUP" ? [] : node.nodeType === Node.TEXT_NODE || node.dataset.s || node.dataset.d
    ? [node] : [...node.childNodes].flatMap(flat);
  const sentences = [...root.querySelectorAll(".pane bdi")]
    .filter((bdi) => bdi.querySelector("[data-s], [data-d]"))
    .map((bdi) => ({ bdi, side: bdi.closest(".abstract") ? "s" : "d", nodes: [...bdi.childNodes].flatMap(flat) }));
  const svgElement = (name, attributes, ...inside) => {
    const made = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  // Links that continue each other on both sides are one block. States were judged for the links that the page came
  // with: of others it is only told what is linked with nothing.
  const joined = (links) => {
    const found = [], ends = new Map();
    for (const one of [...links].sort((a, b) => a.s - b.s || a.d - b.d)) {
      let block = ends.get(`${one.s} ${one.d}`);
      ends.delete(`${one.s} ${one.d}`);
      if (!block) found.push((block = { s: one.s, d: one.d, links: [] }));
      block.links.push(one);
      ends.set(`${one.s + 1} ${one.d + 1}`, block);
    }
    return found.map((block, k) => ({
      ...block,
      number: k + 1,
      posterior: (block.links.reduce((sum, one) => sum + one.p, 0) / block.links.length).toFixed(2),
    }));
  };
  const segment = (side, of, inside) => {
    const span = document.createElement("span"), told = of.map((block) => side === "s"
      ? `from sentence ${place.d.get(block.d)}, posterior ${block.posterior}`
      : `in sentence ${place.s.get(block.s)} of the summary, posterior ${block.posterior}`);
    const nulls = inside.flatMap((node) => node.dataset?.null ?? []).map(Number);
    const sure = nulls.reduce((sum, one) => sum + one, 0) / nulls.length;
    if (side === "s") told.push(...(of.length ? [] : ["linked with nothing"]), `P(null) ${sure.toFixed(2)}`);
    span.className = of.length ? `p c${of[0].number % 6}` : `new u${Math.min(4, Math.floor(5 * sure))}`;
    span.dataset.b = of.map((block) => block.number).join(" ");
    span.title = told.join("; ");
    span.append(...inside);
    if (of.length) {
      const numbers = document.createElement("sup");
      numbers.append(of.map((block) => block.number).join(","));
      span.append(numbers);
    }
    return span;
  };
  const relink = ({ bdi, side, nodes }, member) => {
    const parts = [];
    let last = null, blank = [];
    for (const node of nodes) {
      const text = node.nodeType === Node.TEXT_NODE;
      if (text && last && !node.data.trim()) {
        blank.push(node);
        continue;
      }
      const of = text ? [] : member[side].get(+node.dataset[side]) || [];
      if (last && of.length && of.map((block) => block.number).join() === last.of.map((block) => block.number).join()) last.inside.push(...blank, node);
      else {
        parts.push(...blank);
        last = text || (side === "d" && !of.length) ? null : { of, inside: [node] };
        parts.push(last || node);
      }
      blank = [];
    }
    bdi.replaceChildren(...[...parts, ...blank].map((part) => part.inside ? segment(side, part.of, part.inside) : part));
  };
  const draw = (found) => {
    for (const mark of svg.querySelectorAll(".k")) mark.remove();
    for (const { s, d, links, number } of found) {
      const text = (side) => links.map(({ row }) => row.cells[side].textContent).join(" ");
      const x = left + d * wide, y = top + s * high;
      const marks = byCell
        ? links.map((_, k) => ({ x: x + k * wide + 2, y: y + k * high + 2, width: wide - 4, height: high - 4, rx: 2 }))
        : [{ x, y, width: Math.max(links.length * wide, 4), height: Math.max(links.length * high, 4), rx: 1 }];
      svg.append(svgElement("g", { class: `k k${number % 6}`, "data-b": number },
        svgElement("title", {}, `${text(1)} ← ${text(2)}`), ...marks.map((mark) => svgElement("rect", mark))));
    }
  };
  const quantity = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
  const choose = (chosen, way) => {
    const found = joined(rows.filter(chosen)), member = { s: new Map(), d: new Map() };
    for (const block of found)
      block.links.forEach((one) => {
        one.number.textContent = block.number;
        for (const side of ["s", "d"]) member[side].set(one[side], [...(member[side].get(one[side]) || []), block]);
      });
    for (const [s, of] of byWord)
      of.forEach((one, k) => {
        one.row.hidden = !chosen(one) && (k > 0 || member.s.has(s));
        if (!chosen(one)) one.number.textContent = "–";
      });
    sentences.forEach((sentence) => relink(sentence, member));
    if (byCell) beside.forEach((text, s) => text.classList.toggle("new", !member.s.has(s)));
    draw(found);
    const fresh = byWord.size - member.s.size;
    const links = found.reduce((sum, block) => sum + block.links.length, 0);
    counts.textContent = `${quantity(links, "link")}, ${way}; ${fresh.toLocaleString("en-US")} of ${quantity(byWord.size, "word")} linked with nothing; what is changed is told at ${back.textContent.replace("Back to ", "")} only`;
    changed.textContent = "–";
    unlinked.textContent = fresh.toLocaleString("en-US");
    root.classList.add("relinked");
    settled();
  };
  const settled = () => {
    close();
    show(null);
    index();
  };
  // The page as it came, to go back to: phrases of a best path are no links of single words.
  const begun = slider.value, kept = {
    texts: [counts, changed, unlinked, ...rows.map((one) => one.number)].map((node) => [node, node.textContent]),
    hidden: rows.map(({ row }) => row.hidden),
    parts: sentences.flatMap(({ bdi }) => [...bdi.childNodes, bdi].map((node) => [node, [...node.childNodes]])),
    marks: [...svg.querySelectorAll(".k")],
    fresh: [...beside].map((text) => text.classList.contains("new")),
  };
  const restore = () => {
    kept.texts.forEach(([node, text]) => (node.textContent = text));
    rows.forEach(({ row }, k) => (row.hidden = kept.hidden[k]));
    for (const [node, inside] of kept.parts) if (inside.length) node.replaceChildren(...inside);
    for (const mark of svg.querySelectorAll(".k")) mark.remove();
    svg.append(...kept.marks);
    beside.forEach((text, s) => text.classList.toggle("new", kept.fresh[s]));
    root.classList.remove("relinked");
    settled();
  };
  const told = () => (control.querySelector("output").textContent = (+slider.value).toFixed(2));
  slider.addEventListener("input", () => {
    told();
    if ("own" in control.dataset && slider.value === begun) return restore();
    choose((one) => one.p >= +slider.value, `from the threshold ${(+slider.value).toFixed(2)} on`);
  });
  back.addEventListener("click", () => {
    slider.value = begun;
    told();
    restore();
  });
  control.hidden = false;
}
