"use strict";

// Adds the slider to the plain form on practice pages.
(() => {
  const form = document.getElementById("practice-form");
  if (!form) return;
  const next = document.getElementById("next");
  const score = Object.assign(document.createElement("input"), { type: "hidden", name: "score" });
  form.append(score);
  const slider = new Slider({
    onChange: () => {
      score.value = slider.score ?? "";
      next.disabled = slider.score === null;
    },
    onEnter: () => form.requestSubmit(),
  });
  slider.unset();
  form.addEventListener("submit", (event) => {
    if (slider.score === null) event.preventDefault();
  });
})();
