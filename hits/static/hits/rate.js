"use strict";

// The rating page: a slider for each item. See answers.js for everything else.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const above = document.getElementById("text-above");
  const below = document.getElementById("text-below");

  const slider = new Slider({
    onChange: () => { next.disabled = slider.score === null || !form.dataset.shown; },
    onEnter: () => form.requestSubmit(),
  });

  answerItems({
    show(item) {
      slider.unset();
      if (above) above.textContent = item ? item.above : "…";
      below.textContent = item ? item.text || "—" : "…";
      slider.element.focus({ preventScroll: true });
    },
    answer: () => (slider.score === null ? null : { score: slider.score }),
  });
})();
