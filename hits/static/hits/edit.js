"use strict";

// The post-editing page: a text to correct. See answers.js for everything else. On practice pages and in the
// preview there is nothing to send, and the field works alone.
(() => {
  const KEPT_STATES = 200;
  const PAUSE_MS = 700;
  const SECOND_MS = 1000;
  // A HIT can still be finished for a while after its time is up.
  const LEAST_KEPT_MS = 24 * 60 * 60 * SECOND_MS;

  const field = document.getElementById("edit");
  const form = field.form;
  const above = document.getElementById("text-above");
  const source = document.getElementById("text-source");
  const next = document.getElementById("next");
  const noChange = document.getElementById("no-change");
  const undo = document.getElementById("undo");
  const reset = document.getElementById("reset");
  const changed = document.getElementById("n-changed");
  const isSent = typeof answerItems === "function" && Boolean(form.dataset.assignment);

  // Counting changed words ---------------------------------------------------------------------

  const segmenter = globalThis.Intl?.Segmenter
    ? new Intl.Segmenter(field.lang || undefined, { granularity: "word" })
    : null;

  // Words and punctuation marks; where words are not spaced, the browser knows where they end.
  function unitsOf(text) {
    if (!segmenter) return text.split(/\s+/).filter(Boolean);
    return Array.from(segmenter.segment(text), ({ segment }) => segment).filter((part) => part.trim());
  }

  // The smallest number of words inserted, removed or replaced.
  function distance(before, after) {
    let row = Array.from({ length: after.length + 1 }, (_, place) => place);
    for (let i = 1; i <= before.length; i += 1) {
      const current = [i];
      for (let j = 1; j <= after.length; j += 1) {
        const replaced = row[j - 1] + (before[i - 1] === after[j - 1] ? 0 : 1);
        current.push(Math.min(replaced, row[j] + 1, current[j - 1] + 1));
      }
      row = current;
    }
    return row[after.length];
  }

  // What is edited -----------------------------------------------------------------------------

  let shown = field.dataset.shown;
  let item = null;
  let states = [];
  let lastInputAt = 0;
  let counts = { keys: 0, pastes: 0, pasted: 0 };
  let fieldMs = 0;
  let inFieldSince = null;

  // A segment is one line: a line break would not survive.
  const textNow = () => field.value.replace(/\s*[\r\n]+\s*/g, " ").trim();
  const isChanged = () => textNow() !== shown.trim();

  function update() {
    const isHere = !isSent || Boolean(form.dataset.shown);
    const n = isChanged() ? Math.max(1, distance(unitsOf(shown), unitsOf(textNow()))) : 0;
    const text = n ? changed.dataset.some.replace("{n}", String(n)) : changed.dataset.none;
    if (changed.textContent !== text) changed.textContent = text;
    undo.disabled = !states.length;
    reset.disabled = !n;
    next.disabled = !isHere || !n;
    noChange.disabled = !isHere || n > 0;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 4}px`;
  }

  function keepState(text) {
    if (states.at(-1) !== text) states.push(text);
    if (states.length > KEPT_STATES) states.shift();
  }

  function put(text) {
    field.value = text;
    field.focus();
    keepDraft();
    update();
  }

  let before = field.value;
  field.addEventListener("beforeinput", () => { before = field.value; });
  field.addEventListener("input", () => {
    // Typing without a pause is undone in one step.
    if (performance.now() - lastInputAt > PAUSE_MS || !states.length) keepState(before);
    lastInputAt = performance.now();
    keepDraft();
    update();
  });
  undo.addEventListener("click", () => { if (states.length) put(states.pop()); });
  reset.addEventListener("click", () => {
    keepState(field.value);
    put(shown);
  });
  noChange.addEventListener("click", () => form.requestSubmit());
  field.addEventListener("keydown", (event) => {
    if (event.isTrusted && !event.repeat) counts.keys += 1;
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) form.requestSubmit();
  });

  // Moving a word inside the text, or taking a name from above it, is not pasting from outside.
  function countPasted(text) {
    counts.pastes += 1;
    const known = [shown, field.value, above?.textContent, source?.textContent];
    if (text && !known.some((place) => place?.includes(text.trim()))) counts.pasted += text.length;
  }
  field.addEventListener("paste", (event) => countPasted(event.clipboardData?.getData("text") ?? ""));
  field.addEventListener("drop", (event) => countPasted(event.dataTransfer?.getData("text") ?? ""));

  // The time in the field ----------------------------------------------------------------------

  function leaveField() {
    if (inFieldSince !== null) fieldMs += performance.now() - inFieldSince;
    inFieldSince = null;
  }
  function enterField() {
    if (inFieldSince === null && !document.hidden) inFieldSince = performance.now();
  }
  field.addEventListener("focus", enterField);
  field.addEventListener("blur", leaveField);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      leaveField();
      // The tab may be closed next: what was read counts, too.
      keepDraft();
    } else if (document.activeElement === field) enterField();
  });
  window.addEventListener("pagehide", () => {
    leaveField();
    keepDraft();
  });

  // Drafts -------------------------------------------------------------------------------------

  // What was typed and not yet sent survives a closed tab, by assignment and item.
  const draftKey = () => `draft:${form.dataset.assignment}:${item.item}`;

  // By then the place may be somebody else's, and the draft of no use.
  const left = Number(document.getElementById("time-left")?.dataset.left ?? 0) * SECOND_MS;
  const until = Date.now() + Math.max(left, LEAST_KEPT_MS);

  function keepDraft() {
    if (!isSent || !item) return;
    const ms = fieldMs + (inFieldSince === null ? 0 : performance.now() - inFieldSince);
    try {
      localStorage.setItem(draftKey(), JSON.stringify({ text: field.value, fieldMs: ms, until, ...counts }));
    } catch {
      // Private windows may refuse to store; the draft then lasts as long as the page.
    }
  }

  function draft() {
    try {
      return JSON.parse(localStorage.getItem(draftKey()));
    } catch {
      return null;
    }
  }

  function forgetDraft() {
    try {
      localStorage.removeItem(draftKey());
    } catch {
      // Nothing was stored.
    }
  }

  // Those of other HITs, once nobody can come back to them.
  function forgetOldDrafts() {
    try {
      Object.keys(localStorage)
        .filter((key) => key.startsWith("draft:") && !key.startsWith(`draft:${form.dataset.assignment}:`))
        .filter((key) => !(JSON.parse(localStorage.getItem(key)).until > Date.now()))
        .forEach((key) => localStorage.removeItem(key));
    } catch {
      // Nothing was stored.
    }
  }

  // One item -----------------------------------------------------------------------------------

  function show(nextItem) {
    leaveField();
    item = nextItem ?? null;
    shown = item ? item.text : "";
    const kept = isSent && item ? draft() : null;
    field.value = kept ? kept.text : shown;
    counts = { keys: kept?.keys ?? 0, pastes: kept?.pastes ?? 0, pasted: kept?.pasted ?? 0 };
    fieldMs = kept?.fieldMs ?? 0;
    states = [];
    field.readOnly = !item;
    if (above) above.textContent = item ? item.above : "…";
    if (source) source.textContent = item ? item.source : "…";
    update();
    field.focus({ preventScroll: true });
    // At the beginning, so that reading and editing start there.
    field.setSelectionRange(0, 0);
    enterField();
  }

  function answer() {
    leaveField();
    const fields = { text: textNow(), field_ms: Math.floor(fieldMs), ...counts };
    forgetDraft();
    return fields;
  }

  document.getElementById("edit-tools").hidden = false;
  noChange.hidden = false;
  if (isSent) {
    forgetOldDrafts();
    answerItems({ show, answer });
  } else update();
})();
