"use strict";

// Several outputs of one segment, a slider for each. See answers.js for everything else.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const list = document.getElementById("outputs");
  const above = document.getElementById("text-above");
  const pattern = list.querySelector("li").cloneNode(true);
  let sliders = [];

  const firstUnset = () => sliders.find(({ slider }) => slider.score === null)?.slider;
  const isDone = () => sliders.length > 0 && !firstUnset();
  const update = () => { next.disabled = !form.dataset.shown || !isDone(); };

  // Enter goes from slider to slider, and on once all are set.
  function goOn(row) {
    const { slider } = sliders.find((each) => each.row === row);
    if (slider.score === null) return;
    const following = sliders.slice(sliders.findIndex((each) => each.row === row) + 1);
    const unset = following.find((each) => each.slider.score === null)?.slider ?? firstUnset();
    if (unset) unset.element.focus();
    else form.requestSubmit();
  }

  function rowOf(output, number) {
    const row = pattern.cloneNode(true);
    const text = row.querySelector(".text");
    text.textContent = output.text || "—";
    text.id = `text-${output.code}`;
    const name = row.querySelector(".name");
    name.id = `name-${output.code}`;
    name.textContent = name.textContent.replace(/\d+/, String(number));
    const element = row.querySelector("[role=slider]");
    element.id = `slider-${output.code}`;
    element.setAttribute("aria-labelledby", name.id);
    element.setAttribute("aria-describedby", `${above ? "name-above text-above " : ""}${text.id}`);
    row.querySelectorAll(".step").forEach((step) => step.setAttribute("aria-describedby", name.id));
    return row;
  }

  function sliderIn(row) {
    return {
      row,
      slider: new Slider({
        root: row,
        onChange: update,
        onEnter: () => goOn(row),
        isCurrent: () => sliders.find((each) => each.slider === firstUnset())?.row === row
          || (isDone() && sliders.at(-1).row === row),
      }),
    };
  }

  answerItems({
    show(item) {
      if (above) above.textContent = item ? item.above : "…";
      sliders.forEach(({ slider }) => slider.remove());
      list.replaceChildren(...(item ? item.outputs.map((output, place) => rowOf(output, place + 1)) : []));
      sliders = [...list.children].map(sliderIn);
      sliders.forEach(({ slider }) => slider.unset());
      update();
      sliders[0]?.slider.element.focus({ preventScroll: true });
    },
    answer(item) {
      if (!isDone()) return null;
      return Object.fromEntries(item.outputs.map(({ code }, place) => [`score-${code}`, sliders[place].slider.score]));
    },
  });
})();
