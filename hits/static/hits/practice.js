"use strict";

// Adds the slider to the plain form on practice pages. It keeps the score that the feedback is about.
(() => {
  const form = document.getElementById("practice-form");
  const check = document.getElementById("next");
  const given = form.dataset.given;
  const score = Object.assign(document.createElement("input"), { type: "hidden", name: "score" });
  form.append(score);
  const slider = new Slider({
    onChange: () => {
      score.value = slider.score ?? "";
      check.disabled = score.value === "" || score.value === given;
    },
    // Once there is feedback on this score, Enter goes on.
    onEnter: () => (check.disabled ? document.getElementById("then")?.click() : form.requestSubmit()),
  });
  slider.unset();
  if (given) slider.set(Number(given));
  slider.element.focus({ preventScroll: true });
  document.getElementById("then")?.scrollIntoView({ block: "nearest" });
  form.addEventListener("submit", (event) => {
    if (slider.score === null) event.preventDefault();
  });
})();
