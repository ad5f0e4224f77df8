// Remember on this device who has joined, so that a link of somebody else leads to one's own address: the browser
// keeps that to itself, and sends it nowhere. Without scripts, one says one's name again.
"use strict";

const KEY = "sentgen.class";
const who = document.getElementById("who");
const again = document.getElementById("again");

try {
  if (who && who.dataset.name) {
    localStorage.setItem(KEY, JSON.stringify({ name: who.dataset.name, begun: who.dataset.begun }));
  } else if (again && "gone" in again.dataset) {
    localStorage.removeItem(KEY);
  } else if (again) {
    const saved = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (saved && /^(\/[\w.~-]+)*\/as\/[a-z0-9]+$/.test(saved.begun)) {
      const link = again.querySelector("a");
      link.textContent = `Go on as ${saved.name}`;
      link.href = saved.begun + again.dataset.to;
      again.hidden = false;
    }
  }
} catch {
  // Storage that is switched off.
}
