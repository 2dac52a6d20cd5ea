"use strict";

// Keeps the dashboard up to date while someone looks at it. Without it, the page shows the state of when it
// was loaded.
(() => {
  const LOOK_MS = 5000;
  const LONGEST_WAIT_MS = 60000;
  const place = document.querySelector("[data-live]");
  if (!place) return;
  let wait = LOOK_MS;
  let timer = null;
  let isLooking = false;

  // Not under the hands of someone who is reading on with the keyboard or selecting text.
  const isInUse = () =>
    place.contains(document.activeElement) || !document.getSelection().isCollapsed;

  async function look() {
    timer = null;
    isLooking = true;
    try {
      const response = await fetch(place.dataset.live, { redirect: "error" });
      if (!response.ok) throw new Error(response.statusText);
      const html = await response.text();
      if (!isInUse()) place.innerHTML = html;
      wait = LOOK_MS;
    } catch {
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
    isLooking = false;
    plan();
  }

  function plan() {
    if (timer === null && !isLooking && !document.hidden) timer = window.setTimeout(look, wait);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      window.clearTimeout(timer);
      timer = null;
    } else if (timer === null && !isLooking) {
      look();
    }
  });
  plan();
})();
