"use strict";

// Around the texts of a HIT: the time left, and a button that shows that a text goes on below the controls.
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

  const hiddenHeight = () => {
    const isOver = getComputedStyle(controls).position === "sticky";
    const end = isOver ? controls.getBoundingClientRect().top : window.innerHeight;
    return texts.getBoundingClientRect().bottom - end;
  };
  const showMore = () => { more.hidden = hiddenHeight() < 4; };

  more.addEventListener("click", () => {
    const step = 0.7 * (controls.getBoundingClientRect().top - Math.max(0, texts.getBoundingClientRect().top));
    window.scrollBy(0, Math.min(hiddenHeight() + 16, Math.max(80, step)));
  });
  // Chosen by a pointer, the problem is noted, and the slider comes back within reach.
  const report = document.getElementById("report");
  report?.addEventListener("click", (event) => {
    const isAnswered = [...report.querySelectorAll("fieldset")].every((part) => part.querySelector(":checked"));
    if (event.detail > 0 && event.target.closest("label")) setTimeout(() => { report.open = !isAnswered; });
  });

  window.addEventListener("scroll", showMore, { passive: true });
  new ResizeObserver(showMore).observe(texts);
  window.addEventListener("resize", showMore);
  showMore();
})();
