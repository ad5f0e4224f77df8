// Who one is, and the page of the teacher as it is now.
//
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

// The page of the teacher: what the class does is asked for again, unless somebody is at work in it, or reads there.
const SECONDS = 5;
const renews = document.getElementById("renew");

function isLeftAlone(part) {
  // What begins above the window would move what is below it.
  return part.getBoundingClientRect().top >= 0 && !part.contains(document.activeElement);
}

function replace(part, other) {
  const { value } = part;
  const places = [...part.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
  part.replaceChildren(...other.childNodes);
  part.querySelectorAll(".scroll").forEach((each, i) => {
    each.scrollLeft = places[i] ?? 0;
  });
  if (value !== undefined) {
    part.value = value;
  }
  window.htmx?.process(part);
}

async function renew() {
  if (document.hidden || !renews.querySelector("input").checked || !getSelection().isCollapsed) {
    return;
  }
  try {
    const asked = location.href;
    const answer = await fetch(asked);
    if (!answer.ok || location.href !== asked) {
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const other = page.getElementById(part.id);
      if (other && other.innerHTML !== part.innerHTML && isLeftAlone(part)) {
        replace(part, other);
      }
    }
  } catch {
    // The server is away; what it said last stays.
  }
}

if (renews) {
  renews.hidden = false;
  setInterval(renew, SECONDS * 1000);
}
