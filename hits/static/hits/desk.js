"use strict";

// Around the texts of a HIT, or of practice: the time left, and a button that shows that a text goes on further below.
(() => {
  const SECOND_MS = 1000;
  const timeLeft = document.getElementById("time-left");
  const more = document.getElementById("more");
  const texts = document.querySelector(".texts");
  const controls = document.querySelector(".controls");

  function showTimeLeft() {
    const { left, hours, minutes, over } = timeLeft.dataset;
    const minutesLeft = Math.floor((Number(left) - performance.now() / SECOND_MS) / 60);
    const pattern = minutesLeft >= 60 ? hours : minutesLeft > 0 ? minutes : over;
    const text = pattern
      .replace("{hours}", String(Math.floor(minutesLeft / 60)))
      .replace("{minutes}", String(minutesLeft >= 60 ? minutesLeft % 60 : minutesLeft));
    if (timeLeft.textContent !== text) timeLeft.textContent = text;
  }

  if (timeLeft) {
    showTimeLeft();
    setInterval(showTimeLeft, 10 * SECOND_MS);
  }

  // The controls lie over the texts, or stand below them, out of sight while a text goes on.
  const isOver = () => controls !== null && getComputedStyle(controls).position === "sticky";
  const endInSight = () => (isOver() ? controls.getBoundingClientRect().top : window.innerHeight);
  const hiddenHeight = () => texts.getBoundingClientRect().bottom - endInSight();
  function showMore() {
    more.hidden = hiddenHeight() < 4;
    more.classList.toggle("at-window", !isOver());
  }

  more.addEventListener("click", () => {
    const step = 0.7 * (endInSight() - Math.max(0, texts.getBoundingClientRect().top));
    window.scrollBy(0, Math.min(hiddenHeight() + 16, Math.max(80, step)));
  });
  // Chosen by a pointer, the problem is noted, and the slider comes back within reach.
  const report = document.getElementById("report");
  report?.addEventListener("click", (event) => {
    const isAnswered = [...report.querySelectorAll("fieldset")].every((part) => part.querySelector(":checked"));
    if (event.detail > 0 && event.target.closest("label")) setTimeout(() => { report.open = !isAnswered; });
  });

  window.addEventListener("scroll", showMore, { passive: true });
  // Controls that grow, by a report or a second slider, no longer lie over the texts.
  const sizes = new ResizeObserver(showMore);
  [texts, controls].filter(Boolean).forEach((part) => sizes.observe(part));
  window.addEventListener("resize", showMore);
  showMore();
})();
