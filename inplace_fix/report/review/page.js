"use strict";
const cards = [...document.querySelectorAll("article")];
const search = document.getElementById("search");
const keys = document.getElementById("keys");
const choices = [...document.querySelectorAll(".choice")];
const entry = (card) => document.querySelector(`[data-for="${card.id}"]`);
let here = null;

function visible() {
  return cards.filter((card) => !card.hidden);
}

function narrow() {
  const wanted = {};
  for (const choice of choices) {
    if (choice.getAttribute("aria-pressed") === "true") (wanted[choice.dataset.facet] ??= []).push(choice.dataset.value);
  }
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of cards) {
    const text = words.length ? card.textContent.toLowerCase() : "";
    const fits = Object.entries(wanted).every(([facet, values]) => values.includes(card.dataset[facet]));
    card.hidden = !fits || !words.every((word) => text.includes(word));
    entry(card).hidden = card.hidden;
  }
  const left = visible().length;
  document.getElementById("shown").textContent = left === cards.length ? `${left} findings` : `${left} of ${cards.length}`;
}

function go(card, scroll = true) {
  if (!card) return;
  for (const old of document.querySelectorAll(".here")) old.classList.remove("here");
  here = card;
  card.classList.add("here");
  entry(card).classList.add("here");
  entry(card).scrollIntoView({ block: "nearest" });
  if (scroll) card.scrollIntoView({ block: "start" });
  card.focus({ preventScroll: true });
}

function step(by) {
  const list = visible();
  const at = list.indexOf(here);
  go(list[at < 0 ? 0 : Math.min(Math.max(at + by, 0), list.length - 1)]);
}

function fold(card, folded) {
  card.classList.toggle("folded", folded);
  card.querySelector(".fold").setAttribute("aria-expanded", String(!card.classList.contains("folded")));
}

function clear() {
  search.value = "";
  for (const choice of choices) choice.setAttribute("aria-pressed", "false");
  search.blur();
  narrow();
}

function theme() {
  const root = document.documentElement;
  const dark = root.style.colorScheme ? root.style.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.style.colorScheme = dark ? "light" : "dark";
}

function seen() {
  if (!here) return;
  const on = here.classList.toggle("seen");
  entry(here).classList.toggle("seen", on);
  if (on) step(1);
}

const actions = {
  j: () => step(1),
  k: () => step(-1),
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  "/": () => search.focus(),
  o: () => here && fold(here),
  O: () => {
    const all = !visible().every((card) => card.classList.contains("folded"));
    for (const card of visible()) fold(card, all);
  },
  x: seen,
  t: theme,
  "?": () => keys.showModal(),
  Escape: clear,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target === search) {
    if (event.key === "Escape") clear();
    if (event.key === "Enter") {
      search.blur();
      go(visible()[0]);
    }
    return;
  }
  const action = actions[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});
search.addEventListener("input", narrow);
for (const choice of choices) {
  choice.addEventListener("click", () => {
    choice.setAttribute("aria-pressed", String(choice.getAttribute("aria-pressed") !== "true"));
    narrow();
  });
}
for (const card of cards) {
  card.addEventListener("click", () => go(card, false));
  card.querySelector(".fold").addEventListener("click", () => fold(card));
}
document.getElementById("theme").addEventListener("click", theme);
document.getElementById("help").addEventListener("click", () => keys.showModal());
narrow();
