"use strict";

// The sliders in the preview of a rating page. "Next" goes to the next page; no rating is sent.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const roots = [...document.querySelectorAll(".scale")].filter((root) => !root.closest("[hidden]"));
  const sliders = [];
  const firstUnset = () => sliders.find((slider) => slider.score === null);
  const update = () => { next.disabled = Boolean(firstUnset()); };
  roots.forEach((root, place) => sliders.push(new Slider({
    // The step buttons of a slider alone on its page stand outside of its scale.
    root: root.querySelector(".step") ? root : document,
    onChange: update,
    onEnter: () => { if (!firstUnset()) form.requestSubmit(); },
    isCurrent: () => sliders[place] === (firstUnset() ?? sliders.at(-1)),
  })));
  sliders.forEach((slider) => slider.unset());
})();
