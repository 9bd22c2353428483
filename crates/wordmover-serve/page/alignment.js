// Draws alignments: the words of two texts and the mass that goes from one to the other.
// Used by the page and by the files that `wordmover explain` writes. Texts only ever become
// text nodes, never markup.
"use strict";
const alignment = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  // Up to so many words on the longer side ribbons, beyond a heat map.
  const RIBBON_WORDS = 30;
  // Costs from near to far; unit vectors are hardly ever farther than this.
  const FAR = 1.3;
  const SCALE = [[11, 110, 153], [96, 124, 178], [168, 118, 158], [224, 123, 57]];

  function node(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function colour(cost) {
    const place = Math.min(Math.max(cost / FAR, 0), 1) * (SCALE.length - 1);
    const at = Math.min(Math.floor(place), SCALE.length - 2);
    const mix = SCALE[at].map((from, i) => Math.round(from + (place - at) * (SCALE[at + 1][i] - from)));
    return `rgb(${mix.join(",")})`;
  }

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), paper: of("--paper") };
  }

  const number = (value, digits = 3) => value.toFixed(digits);
  const percent = (value) => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;

  // Distances of nearly equal texts come out as rounding noise now and then.
  const share = (step, data) => (data.distance > 1e-12 ? (step.mass * step.cost) / data.distance : 0);

  function kindOf(word) {
    const kinds = [];
    if (word.shared) kinds.push("in both texts");
    if (word.kind === "composed") kinds.push("unknown word, composed of its parts");
    if (word.kind === "random") kinds.push("unknown word, vector by chance");
    if (word.unmatched > 1e-9) {
      kinds.push(word.unmatched > word.weight - 1e-9 ? "unmatched" : `${percent(word.unmatched / word.weight)} unmatched`);
    }
    return kinds;
  }

  function movesOf(data, side, at) {
    const moves = data.moves.filter((step) => (side === 0 ? step.from : step.to) === at);
    return moves.sort((a, b) => b.mass - a.mass);
  }

  // What a word does, in a sentence: for hovering, focus and screen readers.
  function describe(data, side, at) {
    const word = (side === 0 ? data.first : data.second).words[at];
    const other = (side === 0 ? data.second : data.first).words;
    const arrow = side === 0 ? "goes to" : "comes from";
    const parts = movesOf(data, side, at).map((step) => {
      const to = other[side === 0 ? step.to : step.from].word;
      const stays = step.cost === 0 ? "stays" : `distance ${number(step.cost)}, ${percent(share(step, data))} of the whole`;
      return `${percent(step.mass)} ${arrow} “${to}” (${stays})`;
    });
    const kinds = kindOf(word);
    const about = kinds.length ? ` (${kinds.join(", ")})` : "";
    return `“${word.word}”${about}, weight ${percent(word.weight)}: ${parts.join("; ") || "stays unmatched"}`;
  }

  // Words of one side: where each stands and how high it is.
  function layout(words, height) {
    const gap = 6;
    const least = 18;
    const room = height - words.length * gap;
    const free = Math.max(room - words.length * least, 0);
    let y = 0;
    return words.map((word) => {
      const high = least + free * word.weight;
      const place = { y, high };
      y += high + gap;
      return place;
    });
  }

  function label(word, place, x, anchor, colours) {
    const text = node("text", {
      x, y: place.y + place.high / 2, "text-anchor": anchor, "dominant-baseline": "central",
      "font-size": 14, fill: word.unmatched > word.weight - 1e-9 ? colours.soft : colours.ink,
      "font-weight": word.shared ? 700 : 400,
    });
    const shown = word.word.length > 22 ? `${word.word.slice(0, 21)}…` : word.word;
    text.textContent = shown;
    if (word.kind !== "known") text.setAttribute("font-style", "italic");
    if (word.kind !== "known") text.setAttribute("text-decoration", "underline");
    return text;
  }

  function ribbons(data, room) {
    const width = Math.min(room, 860);
    const colours = theme();
    const sides = [data.first.words, data.second.words];
    const longest = Math.max(...sides.flat().map((word) => Math.min(word.word.length, 22)), 4);
    const margin = Math.min(Math.max(8.2 * longest + 12, 60), width * 0.36);
    const height = Math.max(...sides.map((words) => words.length * (words.length > 10 ? 30 : 40)), 120);
    const columns = [margin, width - margin];
    const bar = 8;
    const places = sides.map((words) => layout(words, height));
    const svg = node("svg", {
      viewBox: `0 0 ${width} ${height + 8}`, width, height: height + 8, role: "group",
      "aria-label": `Transport plan, distance ${number(data.distance, 4)}`, "font-family": "system-ui, sans-serif",
    });
    // How much of each bar is used, from its top.
    const used = sides.map((words) => words.map(() => 0));
    const paths = node("g");
    const costs = node("g", { "aria-hidden": "true" });
    const order = [...data.moves].sort((a, b) => a.from - b.from || a.to - b.to);
    const bends = [];
    for (const step of order) {
      const ends = [step.from, step.to].map((at, side) => {
        const place = places[side][at];
        const part = (step.mass / sides[side][at].weight) * place.high;
        const top = place.y + used[side][at];
        used[side][at] += part;
        return { top, part };
      });
      const [x0, x1] = [columns[0] + bar, columns[1] - bar];
      const middle = (x0 + x1) / 2;
      const [a, b] = ends;
      const d = `M${x0} ${a.top}C${middle} ${a.top} ${middle} ${b.top} ${x1} ${b.top}` +
        `V${b.top + b.part}C${middle} ${b.top + b.part} ${middle} ${a.top + a.part} ${x0} ${a.top + a.part}Z`;
      const path = node("path", { d, fill: colour(step.cost), "fill-opacity": step.cost === 0 ? 0.75 : 0.5 });
      path.step = step;
      const title = node("title");
      title.textContent = `${sides[0][step.from].word} → ${sides[1][step.to].word}: mass ${number(step.mass)}, distance ${number(step.cost)}, ${percent(share(step, data))} of the whole`;
      path.append(title);
      paths.append(path);
      bends.push(path);
      // How far it goes, where there is room for the number.
      if (ends[0].part >= 13 && width > 420) {
        const text = node("text", { x: x0 + 8, y: a.top + a.part / 2, "dominant-baseline": "central", "font-size": 11, fill: colours.ink, "pointer-events": "none" });
        text.textContent = step.cost === 0 ? "stays" : number(step.cost, 2);
        costs.append(text);
      }
    }
    svg.append(paths, costs);
    sides.forEach((words, side) => {
      words.forEach((word, at) => {
        const place = places[side][at];
        const group = node("g", { tabindex: 0, role: "button", class: "word" });
        group.setAttribute("aria-label", describe(data, side, at));
        group.side = side;
        group.at = at;
        const x = side === 0 ? columns[0] : columns[1] - bar;
        group.append(
          node("rect", { x: side === 0 ? 0 : columns[1] - bar, y: place.y, width: margin + bar, height: place.high, fill: "transparent" }),
          node("rect", { x, y: place.y, width: bar, height: place.high, rx: 2, fill: word.shared ? colour(0) : colours.line }),
          label(word, place, side === 0 ? columns[0] - 8 : columns[1] + 8, side === 0 ? "end" : "start", colours),
        );
        svg.append(group);
      });
    });
    const light = (side, at) => {
      for (const path of bends) {
        const own = at === null || (side === 0 ? path.step.from : path.step.to) === at;
        const full = path.step.cost === 0 ? 0.75 : 0.5;
        path.setAttribute("fill-opacity", at === null ? full : own ? 0.9 : 0.08);
      }
    };
    return { svg, light };
  }

  function heatMap(data, width) {
    const colours = theme();
    const [rows, columns] = [data.first.words, data.second.words];
    const longest = Math.max(...[...rows, ...columns].map((word) => Math.min(word.word.length, 18)));
    const guess = Math.max(Math.min((width - 90) / columns.length, 22), 10);
    const font = Math.min(guess * 0.85, 13);
    const margin = Math.min(font * 0.66 * longest + 10, width * 0.35);
    const cell = Math.max(Math.min((width - margin) / columns.length, 22), 10);
    const size = [margin + cell * columns.length, margin + cell * rows.length];
    const svg = node("svg", {
      viewBox: `0 0 ${size[0]} ${size[1]}`, width: size[0], height: size[1], role: "group",
      "aria-label": `Transport plan as a table of ${rows.length} by ${columns.length} words, distance ${number(data.distance, 4)}`,
      "font-family": "system-ui, sans-serif", "font-size": font,
    });
    const band = node("rect", { x: 0, y: 0, width: 0, height: 0, fill: colours.ink, "fill-opacity": 0.08 });
    svg.append(band);
    const cells = data.moves.map((step) => {
      const most = Math.min(rows[step.from].weight, columns[step.to].weight);
      const rect = node("rect", {
        x: margin + step.to * cell, y: margin + step.from * cell, width: cell - 1, height: cell - 1,
        fill: colour(step.cost), "fill-opacity": 0.35 + 0.65 * Math.min(step.mass / most, 1),
      });
      rect.step = step;
      const title = node("title");
      title.textContent = `${rows[step.from].word} → ${columns[step.to].word}: mass ${number(step.mass)}, distance ${number(step.cost)}, ${percent(share(step, data))} of the whole`;
      rect.append(title);
      return rect;
    });
    svg.append(...cells);
    [rows, columns].forEach((words, side) => {
      words.forEach((word, at) => {
        const middle = margin + (at + 0.5) * cell;
        const group = node("g", { tabindex: 0, role: "button", class: "word" });
        group.setAttribute("aria-label", describe(data, side, at));
        group.side = side;
        group.at = at;
        const text = node("text", {
          fill: word.unmatched > word.weight - 1e-9 ? colours.soft : colours.ink, "dominant-baseline": "central",
          "font-weight": word.shared ? 700 : 400,
          ...(side === 0 ? { x: margin - 5, y: middle, "text-anchor": "end" } : { transform: `translate(${middle} ${margin - 5}) rotate(-90)` }),
        });
        if (word.kind !== "known") text.setAttribute("font-style", "italic");
        const most = Math.floor(margin / (font * 0.6));
        text.textContent = word.word.length > most ? `${word.word.slice(0, most - 1)}…` : word.word;
        group.append(text);
        svg.append(group);
      });
    });
    const light = (side, at) => {
      const place = at === null ? [0, 0, 0, 0]
        : side === 0 ? [0, margin + at * cell, size[0], cell] : [margin + at * cell, 0, cell, size[1]];
      ["x", "y", "width", "height"].forEach((name, i) => band.setAttribute(name, place[i]));
    };
    return { svg, light };
  }

  // Draws into `place`; `select(side, at)` is called when a word is chosen, `tell(sentence)`
  // when one is looked at.
  function draw(place, data, { select, tell } = {}) {
    const width = Math.max(place.clientWidth || 720, 280);
    const many = Math.max(data.first.words.length, data.second.words.length) > RIBBON_WORDS;
    const { svg, light } = many ? heatMap(data, width) : ribbons(data, width);
    const wordAt = (event) => event.target.closest && event.target.closest(".word");
    const look = (event) => {
      const group = wordAt(event);
      if (!group) return;
      light(group.side, group.at);
      if (tell) tell(describe(data, group.side, group.at));
    };
    const leave = () => light(0, null);
    svg.addEventListener("pointerover", look);
    svg.addEventListener("focusin", look);
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("focusout", leave);
    const choose = (event) => {
      const group = wordAt(event);
      if (!group || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      if (select) select(group.side, group.at);
    };
    svg.addEventListener("click", choose);
    svg.addEventListener("keydown", choose);
    place.replaceChildren(svg);
    return svg;
  }

  // The plan as a table, the moves that matter most first.
  function table(data) {
    const body = element("tbody");
    const moves = [...data.moves].sort((a, b) => b.mass * b.cost - a.mass * a.cost || b.mass - a.mass);
    for (const step of moves) {
      const row = element("tr");
      const values = [data.first.words[step.from].word, data.second.words[step.to].word, number(step.mass), number(step.cost), percent(share(step, data))];
      for (const value of values) row.append(element("td", {}, value));
      body.append(row);
    }
    const head = element("tr");
    for (const name of ["from", "to", "mass", "distance", "share"]) head.append(element("th", { scope: "col" }, name));
    return element("table", { class: "plan" }, element("caption", {}, "All moves"), element("thead", {}, head), body);
  }

  const WHY = { "stop-word": "stop word", unknown: "unknown word", cut: "cut by the model", dropped: "dropped by you" };

  // Words without a weight, with the reason.
  function leftOut(text, restore) {
    const list = element("span", { class: "left-out" });
    for (const { word, why } of text.left_out) {
      const chip = why === "dropped" && restore ? element("button", { type: "button", class: `chip ${why}` }, `${word} ↺`)
        : element("span", { class: `chip ${why}` }, word);
      chip.title = why === "dropped" && restore ? "take it back in" : WHY[why] || why;
      if (why === "dropped" && restore) chip.addEventListener("click", () => restore(word));
      list.append(chip, " ");
    }
    return list;
  }

  function save(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function source(svg) {
    const copy = svg.cloneNode(true);
    const [, , width, height] = copy.getAttribute("viewBox").split(" ");
    copy.prepend(node("rect", { x: 0, y: 0, width, height, fill: theme().paper }));
    return new XMLSerializer().serializeToString(copy);
  }

  function saveSvg(svg, name = "alignment.svg") {
    save(new Blob([source(svg)], { type: "image/svg+xml" }), name);
  }

  function savePng(svg, name = "alignment.png") {
    const picture = new Image();
    const url = URL.createObjectURL(new Blob([source(svg)], { type: "image/svg+xml" }));
    return new Promise((done) => {
      picture.onload = () => {
        const canvas = element("canvas");
        canvas.width = 2 * svg.width.baseVal.value;
        canvas.height = 2 * svg.height.baseVal.value;
        canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
        URL.revokeObjectURL(url);
        canvas.toBlob((blob) => { save(blob, name); done(blob); });
      };
      picture.src = url;
    });
  }

  return { draw, table, leftOut, describe, colour, saveSvg, savePng, element, percent, number };
})();
