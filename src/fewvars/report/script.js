"use strict";
// The path: a slider, or the pointer over the figure, shows what is alive at each strength.
(() => {
  document.documentElement.classList.add("js");
  const block = document.getElementById("path-data");
  if (!block) return;
  const path = JSON.parse(block.textContent);
  const slider = document.getElementById("path-slider");
  const plot = document.querySelector("#path svg");
  const cursor = plot.querySelector(".cursor");
  const reading = document.getElementById("path-reading");
  const list = document.getElementById("path-alive");
  const steps = path.strengths.length;

  const item = (text, kind) => {
    const entry = document.createElement("li");
    const name = document.createElement("bdi");
    name.textContent = text;
    entry.append(name);
    entry.className = kind;
    return entry;
  };
  const show = (step) => {
    const alive = path.lines.filter((line) => line.switches.filter((at) => at <= step).length % 2 === 1);
    const shown = alive.slice(0, path.most);
    list.replaceChildren(...shown.map((line) => item(line.name, line.selected ? "selected" : "")));
    if (alive.length > shown.length) list.append(item(`${alive.length - shown.length} more`, "more"));
    const count = alive.length === 0 ? "none" : alive.length;
    const text = `At λ = ${path.strengths[step]}, ${count} of ${path.total} ${path.what} are left.`;
    reading.textContent = text;
    slider.value = step;
    slider.setAttribute("aria-valuetext", text);
    cursor.setAttribute("x1", path.positions[step]);
    cursor.setAttribute("x2", path.positions[step]);
  };
  const follow = (event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * plot.viewBox.baseVal.width;
    let nearest = 0;
    path.positions.forEach((position, step) => {
      if (Math.abs(position - x) < Math.abs(path.positions[nearest] - x)) nearest = step;
    });
    show(nearest);
  };

  slider.max = steps - 1;
  // Under the axis of the figure; the middle of the thumb cannot reach the ends of the slider.
  const width = plot.viewBox.baseVal.width;
  const share = (100 * (path.positions[steps - 1] - path.positions[0])) / width;
  slider.style.marginLeft = `calc(${(100 * path.positions[0]) / width}% - 8px)`;
  slider.style.width = `calc(${share}% + 16px)`;
  slider.hidden = false;
  slider.addEventListener("input", () => show(Number(slider.value)));
  plot.addEventListener("pointermove", follow);
  plot.addEventListener("pointerdown", follow);
  show(path.chosen);
})();
