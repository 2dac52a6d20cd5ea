"use strict";

// The rating page of a document: a slider for each segment, with the earlier ones in view, and one for the whole
// with the last. See answers.js for everything else.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const above = document.getElementById("text-above");
  const below = document.getElementById("text-below");
  const whole = document.getElementById("whole");
  const earlier = new Earlier();

  const asksForWhole = () => whole !== null && !whole.hidden;
  const isDone = () => slider.score !== null && (!asksForWhole() || wholeSlider.score !== null);
  const update = () => { next.disabled = !form.dataset.shown || !isDone(); };
  const goOn = () => {
    if (isDone()) form.requestSubmit();
    else if (asksForWhole() && slider.score !== null) wholeSlider.element.focus();
  };

  const slider = new Slider({
    root: document.getElementById("scale"),
    onChange: () => update(),
    onEnter: goOn,
    isCurrent: () => slider.score === null || !asksForWhole(),
  });
  const wholeSlider = whole && new Slider({
    root: whole,
    onChange: () => update(),
    onEnter: goOn,
    isCurrent: () => slider.score !== null && asksForWhole(),
  });

  answerItems({
    show(item) {
      if (whole) {
        whole.hidden = !item?.ends_run;
        wholeSlider.unset();
      }
      slider.unset();
      if (item) earlier.show(item);
      if (above) above.textContent = item ? item.above : "…";
      below.textContent = item ? item.text || "—" : "…";
      slider.element.focus({ preventScroll: true });
    },
    answer() {
      if (!isDone()) return null;
      const scores = { score: slider.score };
      return asksForWhole() ? { ...scores, document_score: wholeSlider.score } : scores;
    },
  });
})();
