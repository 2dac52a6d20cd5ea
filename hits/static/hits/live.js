"use strict";

// Keeps the dashboard up to date while it is visible. Without scripts, the page shows the state at the time it
// was loaded.
(() => {
  const POLL_MS = 5000;
  const LONGEST_WAIT_MS = 60000;
  const place = document.querySelector("[data-live]");
  if (!place) return;
  let wait = POLL_MS;
  let timer = null;
  let isPolling = false;

  // Do not replace content while someone is moving through it by keyboard or selecting text.
  const isInUse = () =>
    place.contains(document.activeElement) || !document.getSelection().isCollapsed;

  async function poll() {
    timer = null;
    isPolling = true;
    try {
      const response = await fetch(place.dataset.live, { redirect: "error" });
      if (!response.ok) throw new Error(response.statusText);
      const html = await response.text();
      if (!isInUse()) place.innerHTML = html;
      wait = POLL_MS;
    } catch {
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
    isPolling = false;
    schedule();
  }

  function schedule() {
    if (timer === null && !isPolling && !document.hidden) timer = window.setTimeout(poll, wait);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      window.clearTimeout(timer);
      timer = null;
    } else if (timer === null && !isPolling) {
      poll();
    }
  });
  schedule();
})();
