"use strict";

// The rating page. The next item is shown at once; its rating travels behind and stays in a queue, kept
// over reloads, until the server says that it is stored. Sending one twice does no harm.
(() => {
  const FIRST_RETRY_MS = 500;
  const LONGEST_RETRY_MS = 15000;
  const REQUEST_TIMEOUT_MS = 20000;

  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const progress = document.getElementById("progress");
  const meter = document.getElementById("meter");
  const state = document.getElementById("save-state");
  const above = document.getElementById("text-above");
  const below = document.getElementById("text-below");
  const size = Number(form.dataset.size);
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;

  const slider = new Slider({
    onChange: () => { next.disabled = slider.score === null; },
    onEnter: () => form.requestSubmit(),
  });

  // Items received and not yet rated here, by position.
  const items = new Map();
  let position = Number(form.elements.position.value);

  const keep = (item) => items.set(item.position, item);
  JSON.parse(document.getElementById("items").textContent).forEach(keep);

  // The queue ----------------------------------------------------------------------------------

  const storageKey = `ratings:${form.dataset.assignment}`;

  function storedQueue() {
    try {
      return JSON.parse(localStorage.getItem(storageKey)) ?? [];
    } catch {
      return [];
    }
  }

  // What an earlier visit could not send, and the server has not got by another way.
  let queue = storedQueue().filter((rating) => rating.position >= position);

  function storeQueue() {
    try {
      if (queue.length) localStorage.setItem(storageKey, JSON.stringify(queue));
      else localStorage.removeItem(storageKey);
    } catch {
      // Private windows may refuse to store; the queue then lives as long as the page.
    }
  }

  let isSending = false;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer = 0;

  async function send() {
    if (isSending) return;
    isSending = true;
    clearTimeout(retryTimer);
    while (queue.length) {
      showState();
      const outcome = await post(queue[0]);
      if (outcome === "stored") {
        queue.shift();
        storeQueue();
        retryMs = FIRST_RETRY_MS;
      } else if (outcome === "refused") {
        resynchronise();
        return;
      } else {
        retryTimer = setTimeout(send, retryMs);
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
        break;
      }
    }
    isSending = false;
    showState();
    if (position > size && !queue.length) location.assign(form.dataset.finish);
    else if (!form.dataset.shown) show();
  }

  async function post(rating) {
    const body = new URLSearchParams(rating);
    try {
      const response = await fetch(location.href, {
        method: "POST",
        headers: { Accept: "application/json", "X-CSRFToken": token },
        body,
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      if (response.ok) {
        const answer = await response.json();
        answer.items.forEach(keep);
        return "stored";
      }
      // The server is there and says no: asking again would not help. 429 and 5xx may pass.
      return response.status < 500 && response.status !== 429 ? "refused" : "failed";
    } catch {
      return "failed";
    }
  }

  // Another window went on with this HIT, or the cookie is gone: the server knows the place.
  function resynchronise() {
    queue = [];
    storeQueue();
    say("elsewhere", "is-offline");
    setTimeout(() => location.reload(), 1500);
  }

  window.addEventListener("online", send);
  window.addEventListener("beforeunload", (event) => {
    if (queue.length) event.preventDefault();
  });

  // What is shown ------------------------------------------------------------------------------

  function say(key, className, n = 0) {
    const text = state.dataset[key].replace("{n}", String(n));
    if (state.textContent !== text) state.textContent = text;
    state.className = `save-state ${className}`;
  }

  function showState() {
    if (position <= size && !items.has(position)) say("waiting", "is-offline");
    else if (!queue.length) say("saved", "");
    else if (retryMs > FIRST_RETRY_MS || !navigator.onLine) say("offline", "is-offline", queue.length);
    else say("saving", "is-pending");
  }

  let shownAt = 0;
  let activeMs = 0;
  let activeSince = null;

  function show() {
    const item = items.get(position);
    form.dataset.shown = item ? "yes" : "";
    slider.unset();
    if (position > size) return;
    progress.textContent = progress.dataset.pattern
      .replace("{position}", String(position))
      .replace("{size}", String(size));
    document.title = progress.textContent;
    meter.value = position - 1;
    if (above) above.textContent = item ? item.above : "…";
    below.textContent = item ? item.text || "—" : "…";
    form.elements.position.value = position;
    form.elements.item.value = item ? item.item : "";
    shownAt = performance.now();
    activeMs = 0;
    activeSince = document.hidden ? null : shownAt;
    slider.element.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function pauseClock() {
    if (activeSince !== null) activeMs += performance.now() - activeSince;
    activeSince = null;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) pauseClock();
    else activeSince = performance.now();
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const item = items.get(position);
    if (slider.score === null || !item) return;
    pauseClock();
    queue.push({
      position,
      item: item.item,
      score: slider.score,
      elapsed_ms: Math.round(performance.now() - shownAt),
      active_ms: Math.round(activeMs),
    });
    storeQueue();
    items.delete(position);
    position += 1;
    show();
    showState();
    send();
  });

  // Enter anywhere on the page goes on, as long as it does not press another button.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.target.closest("a, button, [role=slider]")) form.requestSubmit();
  });

  position += queue.length;
  show();
  showState();
  send();
})();
