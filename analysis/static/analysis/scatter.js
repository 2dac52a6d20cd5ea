"use strict";

// Scatter plots whose points can be chosen with a pointer, a finger or the keyboard, to read what is behind them.
// Without scripts, the plot is an image and a link to its data.
(() => {
  // How far from a point one may point at it, as a share of the figure's width.
  const REACH = 0.04;

  async function load(figure) {
    const response = await fetch(figure.dataset.points, { redirect: "error" });
    if (!response.ok) throw new Error(response.statusText);
    return response.json();
  }

  function line(text, kind, figure) {
    const part = document.createElement("p");
    part.textContent = text;
    part.className = kind;
    if (kind !== "chosen-label") {
      part.dir = "auto";
      const language = kind === "chosen-translation" ? figure.dataset.target : figure.dataset.gray;
      if (language) part.lang = language;
    }
    return part;
  }

  function start(figure, { points }) {
    const plot = figure.querySelector(".plot");
    const slider = figure.querySelector("input[type=range]");
    const chosen = figure.querySelector(".chosen");
    const mark = document.createElement("span");
    mark.className = "plot-mark";
    mark.hidden = true;
    plot.append(mark);
    slider.max = points.length;
    slider.disabled = false;

    function show(place) {
      const point = points[place];
      mark.style.setProperty("left", `${100 * point.x}%`);
      mark.style.setProperty("top", `${100 * point.y}%`);
      mark.hidden = false;
      const parts = [line(point.label, "chosen-label", figure)];
      if (point.reference) parts.push(line(point.reference, "chosen-reference", figure));
      if (point.translation) parts.push(line(point.translation, "chosen-translation", figure));
      chosen.replaceChildren(...parts);
      slider.value = place + 1;
      slider.setAttribute("aria-valuetext", parts.map((part) => part.textContent).join(". "));
    }

    function showNearest(event) {
      const box = plot.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width;
      const y = (event.clientY - box.top) / box.height;
      const ratio = box.height / box.width;
      let nearest = -1;
      let least = REACH;
      points.forEach((point, place) => {
        const distance = Math.hypot(point.x - x, (point.y - y) * ratio);
        if (distance < least) {
          least = distance;
          nearest = place;
        }
      });
      if (nearest >= 0) show(nearest);
    }

    plot.addEventListener("pointermove", showNearest);
    plot.addEventListener("pointerdown", showNearest);
    slider.addEventListener("input", () => show(slider.value - 1));
    slider.addEventListener("focus", () => {
      if (mark.hidden) show(slider.value - 1);
    });
  }

  const watcher = new IntersectionObserver((entries) => {
    entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
      watcher.unobserve(target);
      load(target).then((data) => start(target, data)).catch(() => {
        target.querySelector(".chooser").hidden = true;
      });
    });
  }, { rootMargin: "200px" });

  document.querySelectorAll("[data-points]").forEach((figure) => {
    figure.querySelector(".chooser").hidden = false;
    watcher.observe(figure);
  });
})();
