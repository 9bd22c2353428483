// The stand-alone file: the alignments are in it, there is no service to ask.
(() => {
  const by = (id) => document.getElementById(id);
  const all = JSON.parse(by("data").textContent);
  let svg = null;
  by("a").textContent = all[0].first.text;
  by("b").textContent = all[0].second.text;
  by("unmatched").max = String(all.length - 1);
  by("unmatched").closest("label").hidden = all.length < 2;
  function show() {
    const data = all[Number(by("unmatched").value)];
    by("share").textContent = alignment.percent(data.unmatched);
    by("distance").textContent = alignment.number(data.distance, 4);
    svg = alignment.draw(by("drawing"), data, { tell: (sentence) => { by("told").textContent = sentence; } });
    by("table").replaceChildren(alignment.table(data));
    by("outside").replaceChildren(alignment.leftOut(data.first), " ", alignment.leftOut(data.second));
  }
  by("unmatched").addEventListener("input", show);
  by("svg").addEventListener("click", () => alignment.saveSvg(svg));
  by("png").addEventListener("click", () => alignment.savePng(svg));
  addEventListener("resize", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
})();
