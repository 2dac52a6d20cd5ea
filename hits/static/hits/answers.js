"use strict";

// Working on a HIT, whatever is asked. The next item is shown at once; the answer is sent in the background and stays
// in a queue, which survives reloads, until the server confirms that it is stored. Sending an answer twice does no harm.
//
// The script of the task gives two functions: `show(item)`, which shows an item or, without one, that it is not
// here yet, and `answer(item)`, which returns the fields of its answer, or null while there is none.
// eslint-disable-next-line no-unused-vars
function answerItems({ show: showItem, answer }) {
  const FIRST_RETRY_MS = 500;
  const LONGEST_RETRY_MS = 15000;
  const REQUEST_TIMEOUT_MS = 20000;
  // Time to read why the page reloads.
  const CATCH_UP_MS = 1500;
  const REFUSED_MS = 4000;

  const form = document.getElementById("rating-form");
  const progress = document.getElementById("progress");
  const meter = document.getElementById("meter");
  const state = document.getElementById("save-state");
  const trouble = document.getElementById("trouble");
  const report = document.getElementById("report");
  const size = Number(form.dataset.size);
  const tokenOn = (page) => page.querySelector("[name=csrfmiddlewaretoken]")?.value;
  let token = tokenOn(form);

  // Items received and not yet rated here, by position.
  const items = new Map();
  let position = Number(form.elements.position.value);

  const keep = (item) => items.set(item.position, item);
  JSON.parse(document.getElementById("items").textContent).forEach(keep);

  // How items are rated -------------------------------------------------------------------------

  // Counts only, never what was pressed or where: see hits/rating/signals.py for their order. They wait in the
  // browser, next to the queue, until the HIT is submitted.
  const countsInput = Boolean(form.dataset.countsInput);
  const POINTER = 0, KEYS = 1, TOUCHES = 2, FOCUS_LOST = 3, SCRIPTED = 4;
  const MAX_COUNT = 9999;
  const signalsKey = (place) => `signals:${form.dataset.assignment}:${place}`;
  let inputCounts = [0, 0, 0, 0, 0];
  let isByHand = false;
  let hasFocus = true;

  function count(kind) {
    inputCounts[kind] = Math.min(inputCounts[kind] + 1, MAX_COUNT);
  }

  function countInput(event) {
    if (!event.isTrusted) {
      count(SCRIPTED);
      return;
    }
    const isTouch = event.pointerType === "touch";
    if (event.type === "keydown" && !event.repeat) count(KEYS);
    else if (event.type === "pointermove" && !isTouch) count(POINTER);
    else if (event.type === "pointerdown" && isTouch) count(TOUCHES);
    // Assistive technology may click without a pointer or a key.
    if (event.type !== "pointermove") isByHand = true;
  }

  function loseFocus() {
    if (hasFocus) count(FOCUS_LOST);
    hasFocus = false;
  }

  function keepCounts(place) {
    // A score that nobody set.
    if (!isByHand) count(SCRIPTED);
    try {
      localStorage.setItem(signalsKey(place), JSON.stringify(inputCounts));
    } catch {
      // As for ratings. Nothing depends on these counts.
    }
    inputCounts = [0, 0, 0, 0, 0];
    isByHand = false;
  }

  // The counts of earlier HITs have been sent.
  function forgetOldCounts() {
    try {
      Object.keys(localStorage)
        .filter((key) => key.startsWith("signals:") && !key.startsWith(signalsKey("")))
        .forEach((key) => localStorage.removeItem(key));
    } catch {
      // Nothing was stored.
    }
  }

  if (countsInput) {
    forgetOldCounts();
    for (const type of ["pointermove", "pointerdown", "keydown", "click"]) {
      window.addEventListener(type, countInput, { capture: true, passive: true });
    }
    window.addEventListener("blur", loseFocus);
    window.addEventListener("focus", () => { hasFocus = true; });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) loseFocus();
      else hasFocus = true;
    });
  }

  // The queue ----------------------------------------------------------------------------------

  // Each unsent rating is stored separately, so that two windows on one HIT do not overwrite each other.
  const storageKey = (place) => `rating:${form.dataset.assignment}:${place}`;

  function store(rating) {
    try {
      localStorage.setItem(storageKey(rating.position), JSON.stringify(rating));
    } catch {
      // Private windows may refuse to store; the queue then lasts as long as the page.
    }
  }

  function stored(place) {
    try {
      return JSON.parse(localStorage.getItem(storageKey(place)));
    } catch {
      return null;
    }
  }

  function forget(place) {
    try {
      localStorage.removeItem(storageKey(place));
    } catch {
      // Nothing was stored.
    }
  }

  // Ratings that an earlier visit could not send. Items are rated in order, so they end at the first gap.
  function unsent() {
    const ratings = [];
    for (let place = 1; place < position; place += 1) forget(place);
    for (let place = position; place <= size && stored(place); place += 1) ratings.push(stored(place));
    return ratings;
  }

  let queue = unsent();

  // The server has every rating before this position, from here or from another window.
  function dropBefore(place) {
    queue.filter((rating) => rating.position < place).forEach((rating) => forget(rating.position));
    queue = queue.filter((rating) => rating.position >= place);
  }

  let isSending = false;
  let isLeaving = false;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer = 0;

  async function send() {
    if (isSending || isLeaving) return;
    isSending = true;
    clearTimeout(retryTimer);
    while (queue.length && !isLeaving) {
      showState();
      const outcome = await post(queue[0]);
      if (outcome === "failed") {
        retryTimer = setTimeout(send, retryMs);
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
        break;
      }
      retryMs = FIRST_RETRY_MS;
    }
    isSending = false;
    if (isLeaving) return;
    showState();
    if (position > size && !queue.length) location.assign(form.dataset.finish);
    else if (!form.dataset.shown) show();
  }

  async function post(rating) {
    // Not AbortSignal.timeout: phones from 2021 do not support it.
    const abortController = new AbortController();
    const timer = setTimeout(() => abortController.abort(), REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(location.href, {
        method: "POST",
        headers: { Accept: "application/json", "X-CSRFToken": token },
        body: new URLSearchParams(rating),
        signal: abortController.signal,
      });
      if (response.ok) return accept(await response.json());
      if (response.status === 403) return await renewToken(abortController.signal);
      return refuse(response.status, await response.json());
    } catch {
      // No network, or a response that is not from the platform, such as a proxy's page.
      return "failed";
    } finally {
      clearTimeout(timer);
    }
  }

  function accept(answer) {
    answer.items.forEach(keep);
    dropBefore(answer.next);
    if (answer.next > position) catchUp();
    return "stored";
  }

  // The CSRF token is out of date, for example after a login in another tab. Take one from a new page and retry.
  async function renewToken(signal) {
    const response = await fetch(location.href, { signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    token = tokenOn(page) ?? token;
    return "failed";
  }

  function refuse(status, { error }) {
    if (!error) return "failed";
    if (status === 400 || status === 409) {
      // Sending it again would not help; the server knows where to continue.
      dropBefore(position);
      reloadPage(state.dataset.refused, REFUSED_MS);
      return "refused";
    }
    // The cookie is lost. The ratings are valid and wait for it, provided that the browser stores them.
    if (status === 404 && queue.every((rating) => stored(rating.position))) {
      reloadPage(error, CATCH_UP_MS);
      return "refused";
    }
    return "failed";
  }

  const catchUp = () => reloadPage(state.dataset.elsewhere, CATCH_UP_MS);

  // Reload the page at the server's position.
  function reloadPage(why, afterMs) {
    isLeaving = true;
    tell(why, "is-offline");
    setTimeout(() => location.reload(), afterMs);
  }

  window.addEventListener("online", () => {
    // A request may be failing right now. Do not wait as long for its retry as during a long outage.
    retryMs = FIRST_RETRY_MS;
    send();
  });
  window.addEventListener("beforeunload", (event) => {
    if (queue.length && !isLeaving) event.preventDefault();
  });
  // Going back to a cached copy of this page would show items that are already rated.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted && !queue.length) location.reload();
  });

  // What is shown ------------------------------------------------------------------------------

  function say(key, className, n = 0) {
    tell(state.dataset[key].replace("{n}", String(n)), className);
  }

  function tell(text, className) {
    if (state.textContent !== text) state.textContent = text;
    state.className = `save-state ${className}`;
    // Announced only when something is wrong: otherwise the screen reader should read the next texts.
    const spoken = className === "is-offline" ? text : "";
    if (trouble.textContent !== spoken) trouble.textContent = spoken;
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

  // Which of the texts on this screen a report is about. With one text, there is nothing to choose.
  function nameTexts(outputs) {
    const choices = report.querySelector("#problem-texts");
    if (!choices) return;
    const labels = [...choices.querySelectorAll("label")];
    outputs.forEach((output, place) => {
      const label = labels[place] ?? choices.appendChild(labels[0].cloneNode(true));
      label.hidden = false;
      Object.assign(label.querySelector("input"), { value: output.code, checked: false });
      const name = label.querySelector("span");
      name.textContent = name.textContent.replace(/\d+/, String(place + 1));
    });
    labels.slice(outputs.length).forEach((label) => { label.hidden = true; });
  }

  function show() {
    const item = items.get(position);
    form.dataset.shown = item ? "yes" : "";
    if (report) {
      report.open = false;
      report.querySelectorAll("input").forEach((choice) => { choice.checked = false; });
      nameTexts(item?.outputs ?? []);
    }
    meter.value = position - 1;
    if (position > size) {
      showItem();
      return;
    }
    progress.textContent = progress.dataset.pattern
      .replace("{position}", String(position))
      .replace("{size}", String(size));
    document.title = progress.textContent;
    shownAt = performance.now();
    activeMs = 0;
    activeSince = document.hidden ? null : shownAt;
    showItem(item);
    // For parts of the page that are the same for all tasks, such as media.
    document.dispatchEvent(new CustomEvent("itemshown", { detail: item ?? null }));
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
    if (!item || isLeaving) return;
    const fields = answer(item);
    if (fields === null) return;
    pauseClock();
    const rating = {
      position,
      item: item.item,
      ...fields,
      elapsed_ms: Math.round(performance.now() - shownAt),
      active_ms: Math.round(activeMs),
    };
    const problem = form.elements.problem?.value;
    if (problem) {
      rating.problem = problem;
      const text = form.elements.problem_item?.value;
      if (text) rating.problem_item = text;
    }
    queue.push(rating);
    store(rating);
    if (countsInput) keepCounts(position);
    items.delete(position);
    position += 1;
    show();
    showState();
    send();
  });

  position += queue.length;
  show();
  showState();
  send();
}
