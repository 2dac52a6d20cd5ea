"use strict";

// The slider of the rating page, for a look: NEXT leads on, and nothing is sent but where to.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const slider = new Slider({
    onChange: () => { next.disabled = slider.score === null; },
    onEnter: () => form.requestSubmit(),
  });
  slider.unset();
})();
