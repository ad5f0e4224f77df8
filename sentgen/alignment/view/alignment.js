// Words that belong together light up together: under the pointer, or with the focus, which arrow keys move.
for (const root of document.querySelectorAll(".alignment")) {
  const blocks = (part) => (part.dataset.b ? part.dataset.b.split(" ") : []);
  const parts = new Map();
  for (const part of root.querySelectorAll("[data-b]"))
    for (const block of blocks(part)) parts.set(block, [...(parts.get(block) || []), part]);
  let lit = [];
  const show = (part) => {
    lit.forEach((one) => one.classList.remove("on"));
    lit = part ? blocks(part).flatMap((block) => parts.get(block)) : [];
    lit.forEach((one) => one.classList.add("on"));
    root.classList.toggle("picked", lit.length > 0);
  };
  const focused = () => document.activeElement.closest?.(".alignment [data-b]");
  const bring = (part) => {
    const own = part.closest(".pane");
    for (const pane of root.querySelectorAll(".pane")) {
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
    if (part) bring(part);
  });
  root.addEventListener("focusout", () => show(null));
  for (const pane of root.querySelectorAll(".pane")) {
    const stops = [...pane.querySelectorAll("[data-b]")];
    if (stops.length) stops[0].tabIndex = 0;
    const go = (to) => {
      stops.forEach((stop) => (stop.tabIndex = stop === to ? 0 : -1));
      to.focus();
    };
    pane.addEventListener("click", (event) => {
      const part = event.target.closest("[data-b]");
      if (part) go(part);
    });
    pane.addEventListener("keydown", (event) => {
      const at = stops.indexOf(document.activeElement);
      if (at < 0) return;
      if (event.key === "Escape") return document.activeElement.blur();
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 }[event.key]
        ?? { Home: 0, End: stops.length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (stops[to]) go(stops[to]);
    });
  }
}
