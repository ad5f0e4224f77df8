// A picture of what stands before a button, SVG or PNG, with how to cite the page below it. It is laid out on a
// sheet of its own, light and as wide as on a desk, and each text and drawing is put where it stands there.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
// What the style sheet says of a drawing, which a file has to say itself.
const DRAWN = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "vector-effect",
  "paint-order", "text-anchor", "font-family", "font-size", "font-weight", "font-style",
];
// Pixels of the narrowest sheet.
const NARROW = 560;

const element = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
};

// What of a text stands in one line, with its place; a word may be broken anywhere.
const lines = (text) => {
  const found = [], range = document.createRange();
  let at = 0;
  for (const sign of text.data) {
    range.setStart(text, at);
    range.setEnd(text, (at += sign.length));
    const { left, right, bottom, width, height } = range.getBoundingClientRect(), last = found.at(-1);
    if (!width) continue;
    const shown = /\s/.test(sign) ? " " : sign;
    if (last && Math.abs(last.bottom - bottom) < 3) {
      [last.left, last.right, last.words] = [Math.min(last.left, left), Math.max(last.right, right), last.words + shown];
    } else {
      found.push({ left, right, bottom, height, words: shown });
    }
  }
  return found;
};

const drawing = (svg, origin) => {
  const copy = svg.cloneNode(true), box = svg.getBoundingClientRect();
  const here = [svg, ...svg.querySelectorAll("*")], there = [copy, ...copy.querySelectorAll("*")];
  here.forEach((one, number) => {
    const style = getComputedStyle(one), made = there[number];
    for (const name of DRAWN) made.setAttribute(name, style.getPropertyValue(name));
    made.removeAttribute("class");
    if (one.hasAttribute("href")) made.setAttribute("href", new URL(one.getAttribute("href"), location).href);
  });
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const place = { x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height };
  for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
  return copy;
};

const marks = (sheet) => {
  const origin = sheet.getBoundingClientRect(), made = [];
  const walker = document.createTreeWalker(sheet, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node.parentNode.closest("svg") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.nodeName === "svg") made.push(drawing(node, origin));
    if (node.nodeType !== Node.TEXT_NODE) continue;
    const style = getComputedStyle(node.parentElement);
    for (const { left, right, bottom, height, words } of lines(node)) {
      made.push(element("text", {
        x: (style.direction === "rtl" ? right : left) - origin.left, y: bottom - origin.top - height * 0.24,
        direction: style.direction, fill: style.color,
        "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight,
      }, words.trimEnd()));
    }
  }
  return made;
};

const picture = (shown) => {
  const sheet = document.createElement("div"), copy = shown.cloneNode(true), cite = document.createElement("p");
  sheet.className = "sheet";
  // As the footer says it, which the results bring with them.
  cite.textContent = document.querySelector("#cite p").textContent.replace(/\s+/g, " ").trim();
  cite.className = "cite";
  sheet.append(copy, cite);
  shown.parentNode.append(sheet);
  try {
    // No wider than what is drawn, as long as the citation can be read.
    const drawn = [copy, ...copy.querySelectorAll("svg, table")].filter((one) => /svg|table/i.test(one.nodeName));
    const right = Math.max(...drawn.map((one) => one.getBoundingClientRect().right));
    sheet.style.width = `${Math.max(right - sheet.getBoundingClientRect().left + 16, NARROW)}px`;
    const width = sheet.offsetWidth, height = sheet.offsetHeight;
    const made = element("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    made.append(element("desc", {}, cite.textContent));
    made.append(element("rect", { width, height, fill: getComputedStyle(sheet).backgroundColor }), ...marks(sheet));
    return made;
  } finally {
    sheet.remove();
  }
};

const save = (file, url) => {
  const link = document.createElement("a");
  [link.href, link.download] = [url, file];
  link.click();
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-file]");
  if (!button) return;
  const svg = picture(button.parentNode.previousElementSibling), file = button.dataset.file;
  const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  if (file.endsWith(".svg")) return save(file, url);
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = url;
  await image.decode();
  // Sharp on paper, too.
  [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  save(file, canvas.toDataURL("image/png"));
});
