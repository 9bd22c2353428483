// The page: texts in, alignments, search hits, classes and the map out. Its whole state is in
// the address after the #, so a link shows what its sender saw.
"use strict";
const { element, percent, number } = alignment;
const by = (id) => document.getElementById(id);
const EXAMPLE = { a: "Obama speaks to the media in Illinois", b: "The president greets the press in Chicago", c: "The band gave a concert in Japan" };
const WAIT = 150;

const state = { view: "align", a: EXAMPLE.a, b: EXAMPLE.b, c: "", compare: false, u: 0, drop: [[], []], pin: [[], []], q: "", by: "", t: "" };
let key = sessionStorage.getItem("wordmover-key") || "";
let model = null;

// ---- talking to the service

async function ask(path, body, signal) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  if (key) headers.Authorization = `Bearer ${key}`;
  const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
  const said = await answer.json();
  if (answer.status === 401) by("key").hidden = false;
  if (!answer.ok) throw Object.assign(new Error(said.error.message), { code: said.error.code });
  return said;
}

function show(error) {
  if (error && error.name === "AbortError") return;
  by("error").hidden = !error;
  by("error").textContent = error ? (error instanceof TypeError ? "The service does not answer." : error.message) : "";
}

by("key").addEventListener("submit", (event) => {
  event.preventDefault();
  key = new FormData(event.target).get("key").trim();
  sessionStorage.setItem("wordmover-key", key);
  by("key").hidden = true;
  start();
});

// ---- the state and the address

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of ["view", "a", "b", "c", "q", "by", "t"]) if (given.has(name)) state[name] = given.get(name);
  if (!["align", "search", "classify", "map"].includes(state.view)) state.view = "align";
  state.compare = given.has("c") || state.compare;
  if (given.has("u")) state.u = Math.min(Math.max(Number(given.get("u")) || 0, 0), 90);
  for (const list of ["drop", "pin"]) {
    [0, 1].forEach((side) => {
      const name = `${list}${side}`;
      if (given.has(name)) state[list][side] = given.get(name).split(" ").filter(Boolean);
    });
  }
}

function writeAddress() {
  const out = new URLSearchParams({ view: state.view });
  if (state.view === "align") {
    out.set("a", state.a);
    out.set("b", state.b);
    if (state.compare) out.set("c", state.c);
    if (state.u) out.set("u", state.u);
    for (const list of ["drop", "pin"]) [0, 1].forEach((side) => state[list][side].length && out.set(`${list}${side}`, state[list][side].join(" ")));
  }
  if (state.view === "search" && state.q) { out.set("q", state.q); out.set("by", state.by); }
  if (state.view === "classify" && state.t) out.set("t", state.t);
  history.replaceState(null, "", `#${out}`);
}

function showView() {
  for (const link of by("views").children) {
    const own = link.getAttribute("href") === `#view=${state.view}`;
    if (own) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  for (const view of ["align", "search", "classify", "map"]) by(view).hidden = view !== state.view;
  show(null);
  if (state.view === "align") alignNow();
  if (state.view === "search" && state.q) search();
  if (state.view === "classify") classifyNow();
  if (state.view === "map") map.open();
}

// ---- two texts

const figures = [...document.querySelectorAll(".result")];
const shown = [null, null];
let asking = null;
let timer = 0;

function request(second, isThird) {
  const body = { first: state.a, second };
  if (state.u) body.unmatched = state.u / 100;
  if (state.drop[0].length) body.drop_first = state.drop[0];
  if (state.pin[0].length) body.pin_first = state.pin[0];
  if (!isThird && state.drop[1].length) body.drop_second = state.drop[1];
  if (!isThird && state.pin[1].length) body.pin_second = state.pin[1];
  return body;
}

async function alignNow() {
  if (asking) asking.abort();
  const mine = (asking = new AbortController());
  writeAddress();
  if (!state.a.trim() || !state.b.trim()) return;
  const others = state.compare && state.c.trim() ? [state.b, state.c] : [state.b];
  by("results").classList.add("busy");
  try {
    const answers = await Promise.all(others.map((text, i) => ask("/v1/distance", request(text, i === 1), mine.signal)));
    show(null);
    [0, 1].forEach((i) => { shown[i] = answers[i] || null; });
    drawAll();
  } catch (error) {
    show(error);
  } finally {
    if (asking === mine) by("results").classList.remove("busy");
  }
}

function alignSoon() {
  clearTimeout(timer);
  timer = setTimeout(alignNow, WAIT);
}

function drawAll() {
  const started = performance.now();
  // First of all: a drawing is as wide as its place.
  figures.forEach((figure, i) => { figure.hidden = !shown[i]; });
  figures.forEach((figure, i) => {
    const data = shown[i];
    if (!data) return;
    figure.querySelector(".distance").textContent = number(data.distance, 4);
    figure.querySelector(".verdict").textContent = verdict(i);
    alignment.draw(figure.querySelector(".drawing"), data, {
      tell: (sentence) => { by("told").textContent = sentence; },
      select: (side, at) => choose(i === 1 && side === 1 ? null : side, data, side, at),
    });
    const outside = figure.querySelector(".outside");
    outside.replaceChildren();
    const line = element("p");
    if (data.first.left_out.length + data.second.left_out.length) outside.append(line);
    [data.first, data.second].forEach((text, side) => {
      if (!text.left_out.length) return;
      const restore = (word) => { state.drop[side] = state.drop[side].filter((other) => other !== word); alignNow(); };
      line.append(side ? " Left out of the second: " : "Left out of the first: ", alignment.leftOut(text, i === 1 && side === 1 ? null : restore));
    });
    const details = figure.querySelector("details");
    const fill = () => details.open && figure.querySelector(".plan-table").replaceChildren(alignment.table(data));
    details.ontoggle = fill;
    fill();
  });
  document.documentElement.dataset.drawn = String(performance.now() - started);
}

function verdict(i) {
  const moved = shown[i].unmatched ? `, ${percent(1 - shown[i].unmatched)} of the mass moves` : "";
  if (!shown[1]) return `Word Mover’s Distance${moved}`;
  const nearer = shown[i].distance < shown[1 - i].distance;
  const difference = Math.abs(shown[0].distance - shown[1].distance);
  return `${nearer ? "nearer" : "farther"} by ${number(difference, 4)}${moved}`;
}

let chosen = null;
function choose(stateSide, data, side, at) {
  const word = (side ? data.second : data.first).words[at].word;
  chosen = stateSide === null ? null : { side: stateSide, word };
  by("chosen").hidden = !chosen;
  by("told").textContent = alignment.describe(data, side, at);
  if (!chosen) return;
  const pinned = state.pin[chosen.side].includes(word);
  by("chosen").firstElementChild.textContent = `“${word}”`;
  by("pin").textContent = pinned ? "Unpin" : "Pin";
  by("pin").title = "a pinned word is matched before others are left unmatched";
}
by("drop").addEventListener("click", () => {
  state.drop[chosen.side].push(chosen.word);
  by("chosen").hidden = true;
  alignNow();
});
by("pin").addEventListener("click", () => {
  const pins = state.pin[chosen.side];
  if (pins.includes(chosen.word)) state.pin[chosen.side] = pins.filter((word) => word !== chosen.word);
  else pins.push(chosen.word);
  by("chosen").hidden = true;
  alignNow();
});

for (const name of ["a", "b", "c"]) {
  by(name).addEventListener("input", () => {
    state[name] = by(name).value;
    const side = name === "a" ? 0 : 1;
    if (name !== "c") { state.drop[side] = []; state.pin[side] = []; }
    by("chosen").hidden = true;
    alignSoon();
  });
}
by("unmatched").addEventListener("input", () => {
  state.u = Number(by("unmatched").value);
  by("share").textContent = `${state.u} %`;
  alignSoon();
});
by("compare").addEventListener("click", () => {
  state.compare = !state.compare;
  if (state.compare && !state.c) state.c = EXAMPLE.c;
  fillFields();
  alignNow();
});
by("swap").addEventListener("click", () => {
  [state.a, state.b] = [state.b, state.a];
  state.drop.reverse();
  state.pin.reverse();
  fillFields();
  alignNow();
});

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or no secure origin: the old way.
    const field = element("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1200);
}
const shellQuoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;
by("curl").addEventListener("click", (event) => {
  const auth = key ? " -H \"Authorization: Bearer $WORDMOVER_KEY\"" : "";
  copy(event.target, `curl ${location.origin}/v1/distance${auth} -H 'Content-Type: application/json' -d ${shellQuoted(JSON.stringify(request(state.b)))}`);
});
by("python").addEventListener("click", (event) => {
  const auth = key ? ", \"Authorization\": \"Bearer \" + os.environ[\"WORDMOVER_KEY\"]" : "";
  const lines = [`import json${key ? ", os" : ""}, urllib.request`, "",
    // What JSON calls strings, numbers and lists, Python does too.
    `body = ${JSON.stringify(request(state.b))}`,
    `headers = {"Content-Type": "application/json"${auth}}`,
    `request = urllib.request.Request("${location.origin}/v1/distance", json.dumps(body).encode(), headers)`,
    "answer = json.load(urllib.request.urlopen(request))", "print(answer[\"distance\"])",
    "words = [[word[\"word\"] for word in answer[side][\"words\"]] for side in (\"first\", \"second\")]",
    "for move in answer[\"moves\"]:",
    "    print(words[0][move[\"from\"]], \"->\", words[1][move[\"to\"]], move[\"mass\"], move[\"cost\"])"];
  copy(event.target, `${lines.join("\n")}\n`);
});
by("link").addEventListener("click", (event) => { writeAddress(); copy(event.target, location.href); });
by("svg").addEventListener("click", () => { const svg = figures[0].querySelector("svg"); if (svg) alignment.saveSvg(svg); });
by("png").addEventListener("click", () => { const svg = figures[0].querySelector("svg"); if (svg) alignment.savePng(svg); });

function fillFields() {
  for (const name of ["a", "b", "c"]) by(name).value = state[name];
  by("third").hidden = !state.compare;
  by("compare").setAttribute("aria-pressed", state.compare);
  by("unmatched").value = state.u;
  by("share").textContent = `${state.u} %`;
  by("query").value = state.q;
  by("text").value = state.t;
}

// ---- search

// A text whose words of the plan are marked.
function marked(text, strengths) {
  const out = element("span");
  let end = 0;
  for (const found of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.-]*/gu)) {
    const word = found[0].toLowerCase().replace(/’/g, "'").replace(/[.'-]+$/, "").replace(/'s$/, "");
    out.append(text.slice(end, found.index));
    const kind = strengths.get(word);
    out.append(kind ? element("mark", { class: kind }, found[0]) : found[0]);
    end = found.index + found[0].length;
  }
  out.append(text.slice(end));
  return out;
}

async function search() {
  state.q = by("query").value;
  state.by = by("by").value;
  writeAddress();
  if (!state.q.trim()) return;
  by("search-status").textContent = "Searching…";
  by("hits").replaceChildren();
  try {
    const started = performance.now();
    const body = { query: state.q, k: 20 };
    if (state.by) body.by = state.by;
    const { data } = await ask("/v1/search", body);
    show(null);
    by("search-status").textContent = `${data.length} documents in ${Math.round(performance.now() - started)} ms`;
    by("hits").replaceChildren(...data.map(hit));
  } catch (error) {
    by("search-status").textContent = "";
    show(error);
  }
}

function hit(found) {
  const text = element("span", {}, found.text);
  const open = element("button", { type: "button", class: "open", "aria-expanded": "false" }, text);
  const scores = [];
  if (found.distance !== null && found.distance !== undefined) scores.push(`distance ${number(found.distance, 4)}`);
  // A score that is the distance again says nothing.
  if (found.score !== -found.distance) scores.push(`score ${number(found.score, 4)}`);
  const place = element("div");
  const item = element("li", {}, element("div", { class: "meta" }, `${found.id}${scores.length ? ": " : ""}${scores.join(", ")}`), open, place);
  const words = new Map((found.words || []).map(({ word, shared }) => [word, shared ? "same" : "near"]));
  if (words.size) open.replaceChildren(marked(found.text, words));
  open.addEventListener("click", async () => {
    const isOpen = open.getAttribute("aria-expanded") === "true";
    open.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) { place.replaceChildren(); return; }
    try {
      const data = await ask("/v1/distance", { first: state.q, second: found.text });
      const drawing = element("div", { class: "drawing" });
      const told = element("p", { class: "told", "aria-live": "polite" });
      place.replaceChildren(drawing, told);
      alignment.draw(drawing, data, { tell: (sentence) => { told.textContent = sentence; } });
    } catch (error) {
      show(error);
    }
  });
  return item;
}
by("search-form").addEventListener("submit", (event) => { event.preventDefault(); search(); });

// ---- classification

let classifying = null;
async function classifyNow() {
  if (classifying) classifying.abort();
  const mine = (classifying = new AbortController());
  writeAddress();
  if (!model) return;
  if (!model.classes) { by("class-status").textContent = "This service has no classifier: start it with --classifier."; return; }
  if (!state.t.trim()) { by("class-status").textContent = `Classes: ${model.classes.join(", ")}`; return; }
  try {
    const { data: [found] } = await ask("/v1/classify", { input: state.t, explain: true }, mine.signal);
    show(null);
    const named = found.labels.map((label) => `“${label}”`).join(", ");
    by("class-status").textContent = found.warning || (named ? `This is ${named}.` : "None of the classes.");
    by("classes").replaceChildren(...bars(found.classes));
    const strongest = Math.max(...(found.words || []).map((word) => Math.abs(word.effect)), 1e-12);
    const strengths = new Map((found.words || []).filter((word) => word.effect > 0.25 * strongest).map((word) => [word.word, word.effect > 0.6 * strongest ? "same" : "near"]));
    by("deciding").replaceChildren(marked(state.t, strengths));
  } catch (error) {
    show(error);
  }
}
function bars(classes) {
  const values = classes.map((one) => (one.probability ?? one.decision_value));
  const [least, most] = [Math.min(...values, 0), Math.max(...values, 1e-9)];
  return classes.slice(0, 12).flatMap((one, i) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    svg.setAttribute("aria-hidden", "true");
    bar.setAttribute("width", `${(100 * (values[i] - least)) / (most - least)}%`);
    bar.setAttribute("height", "100%");
    bar.setAttribute("rx", "2");
    bar.setAttribute("fill", i ? "#8a98a3" : "#0b6e99");
    svg.append(bar);
    return [element("span", {}, one.label), svg, element("span", {}, one.probability === undefined || one.probability === null ? number(values[i], 2) : percent(values[i]))];
  });
}
by("text").addEventListener("input", () => {
  state.t = by("text").value;
  clearTimeout(timer);
  timer = setTimeout(classifyNow, WAIT);
});

// ---- the map

const map = (() => {
  const canvas = by("canvas");
  const COLOURS = ["#2a93c4", "#e07b39", "#5a9e4b", "#a8568f", "#c9a227", "#6b6ecf", "#b5524a", "#3d9fa3", "#8c6d46", "#7f7f7f"];
  let data = null;
  let view = { x: 0, y: 0, scale: 1 };
  let lasso = null;
  let drag = null;
  let frame = 0;
  let grid = null;

  async function open() {
    if (data || !model) return;
    if (!model.index) { by("map-status").textContent = "This service has no index: start it with --index."; return; }
    by("map-status").textContent = "Loading…";
    try {
      data = await drawn();
      by("map-status").textContent = `${data.ids.length} documents. Drag to move, turn the wheel to zoom, hold Shift and draw around documents to list them.`;
      colourByLabel();
      grid = new Grid(data);
      resize();
    } catch (error) {
      by("map-status").textContent = "";
      show(error);
    }
  }
  // The first time, the service has to draw it.
  async function drawn() {
    for (;;) {
      try {
        return await ask("/v1/map");
      } catch (error) {
        if (error.code !== "being_drawn") throw error;
        by("map-status").textContent = "The map is being drawn…";
        await new Promise((done) => setTimeout(done, 500));
      }
    }
  }
  // Cells of the unit square, so that what is under the pointer is found at once.
  class Grid {
    constructor({ x, y }) {
      this.n = 64;
      this.cells = Array.from({ length: this.n * this.n }, () => []);
      x.forEach((_, i) => this.cells[this.cell(x[i], y[i])].push(i));
    }
    place(value) { return Math.min(Math.max(Math.floor(value * this.n), 0), this.n - 1); }
    cell(x, y) { return this.place(y) * this.n + this.place(x); }
    nearest(x, y, reach) {
      let best = -1;
      let least = reach * reach;
      for (let row = this.place(y - reach); row <= this.place(y + reach); row++) {
        for (let column = this.place(x - reach); column <= this.place(x + reach); column++) {
          for (const i of this.cells[row * this.n + column]) {
            const far = (data.x[i] - x) ** 2 + (data.y[i] - y) ** 2;
            if (far < least) { least = far; best = i; }
          }
        }
      }
      return best;
    }
  }
  function colourByLabel() {
    const labels = data.labels || [];
    const names = [...new Set(labels)].sort();
    const of = new Map(names.map((name, i) => [name, COLOURS[i % COLOURS.length]]));
    data.colours = data.ids.map((_, i) => of.get(labels[i]) || COLOURS[0]);
    by("map-legend").replaceChildren(...names.slice(0, 24).map((name) => {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      for (const [attribute, value] of [["cx", "50%"], ["cy", "50%"], ["r", "45%"], ["fill", of.get(name)]]) dot.setAttribute(attribute, value);
      svg.append(dot);
      return element("li", {}, svg, name);
    }));
  }
  function resize() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    redraw();
  }
  const side = () => Math.min(canvas.clientWidth, canvas.clientHeight);
  const toScreen = (x, y) => [(x - 0.5 - view.x) * side() * view.scale + canvas.clientWidth / 2, (y - 0.5 - view.y) * side() * view.scale + canvas.clientHeight / 2];
  const toMap = (x, y) => [(x - canvas.clientWidth / 2) / (side() * view.scale) + 0.5 + view.x, (y - canvas.clientHeight / 2) / (side() * view.scale) + 0.5 + view.y];
  function redraw() {
    if (frame || !data) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      const pen = canvas.getContext("2d");
      const ratio = window.devicePixelRatio || 1;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
      pen.globalAlpha = 0.7;
      const size = Math.min((data.ids.length > 3000 ? 2 : 4) + view.scale * 0.5, 8);
      let before = "";
      for (const i of data.order || (data.order = data.ids.map((_, i) => i).sort((a, b) => (data.colours[a] < data.colours[b] ? -1 : 1)))) {
        const [x, y] = toScreen(data.x[i], data.y[i]);
        if (x < -9 || y < -9 || x > canvas.clientWidth + 9 || y > canvas.clientHeight + 9) continue;
        if (data.colours[i] !== before) { before = data.colours[i]; pen.fillStyle = before; }
        pen.fillRect(x - size / 2, y - size / 2, size, size);
      }
      if (lasso && lasso.length > 1) {
        pen.globalAlpha = 1;
        pen.strokeStyle = "#e07b39";
        pen.lineWidth = 2;
        pen.beginPath();
        lasso.forEach(([x, y], i) => { const at = toScreen(x, y); if (i) pen.lineTo(...at); else pen.moveTo(...at); });
        pen.closePath();
        pen.stroke();
      }
    });
  }
  function inside(x, y) {
    let within = false;
    for (let i = 0, j = lasso.length - 1; i < lasso.length; j = i++) {
      const [[xi, yi], [xj, yj]] = [lasso[i], lasso[j]];
      if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
    }
    return within;
  }
  function list() {
    const found = data.ids.map((_, i) => i).filter((i) => inside(data.x[i], data.y[i]));
    by("map-told").textContent = `${found.length} documents chosen${found.length > 200 ? ", the first 200 listed" : ""}`;
    by("lasso").replaceChildren(...found.slice(0, 200).map((i) => element("li", {}, `${data.ids[i]}: ${data.texts[i]}`)));
  }
  canvas.addEventListener("pointerdown", (event) => {
    if (!data) return;
    canvas.setPointerCapture(event.pointerId);
    if (event.shiftKey) lasso = [toMap(event.offsetX, event.offsetY)];
    else drag = { x: event.offsetX, y: event.offsetY };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!data) return;
    if (event.buttons && lasso && !drag) lasso.push(toMap(event.offsetX, event.offsetY));
    else if (event.buttons && drag) {
      view.x -= (event.offsetX - drag.x) / (side() * view.scale);
      view.y -= (event.offsetY - drag.y) / (side() * view.scale);
      drag = { x: event.offsetX, y: event.offsetY };
    } else {
      const at = grid.nearest(...toMap(event.offsetX, event.offsetY), 8 / (side() * view.scale));
      if (at >= 0) by("map-told").textContent = `${data.ids[at]}${data.labels ? ` (${data.labels[at]})` : ""}: ${data.texts[at]}`;
      return;
    }
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    if (lasso && !drag) list();
    drag = null;
  });
  const zoom = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const before = toMap(x, y);
    view.scale = Math.min(Math.max(view.scale * factor, 0.5), 200);
    const after = toMap(x, y);
    view.x += before[0] - after[0];
    view.y += before[1] - after[1];
    redraw();
  };
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 0.1 / view.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; redraw(); } else return;
    event.preventDefault();
  });
  return { open, resize };
})();

// ---- the beginning

async function start() {
  try {
    const { data: [first] } = await ask("/v1/models");
    model = first;
    show(null);
    const ways = model.index ? model.index.by : [];
    by("by").replaceChildren(...ways.map((way) => element("option", { value: way }, way)));
    if (ways.includes(state.by)) by("by").value = state.by;
    by("search-status").textContent = model.index ? `${model.index.documents} documents` : "This service has no index: start it with --index.";
  } catch (error) {
    show(error);
  }
  showView();
}
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  if (state.view === "align" && shown[0]) drawAll();
  if (state.view === "map") map.resize();
});
addEventListener("hashchange", () => { readAddress(); fillFields(); showView(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown[0] && drawAll());
readAddress();
fillFields();
start();
