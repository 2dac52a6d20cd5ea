"use strict";

// The slider in the preview of the rating page. "Next" goes to the next page; no rating is sent.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const slider = new Slider({
    onChange: () => { next.disabled = slider.score === null; },
    onEnter: () => form.requestSubmit(),
  });
  slider.unset();
})();
