"use strict";

// Plans again as the wishes change. The server computes; without this script, the button asks it.
(() => {
  const form = document.getElementById("plan-form");
  const PAUSE = 300;
  let waiting = 0;
  let asked = null;

  function address() {
    const wishes = new URLSearchParams(new FormData(form));
    // An empty field means its usual value.
    for (const [name, value] of [...wishes]) if (!value) wishes.delete(name);
    return `${location.pathname}?${wishes}`;
  }

  async function plan() {
    if (!form.checkValidity()) return;
    asked?.abort();
    asked = new AbortController();
    const results = document.getElementById("plan-results");
    const url = address();
    try {
      const answer = await fetch(url, { signal: asked.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("plan-results");
      // After logging out, another page answers.
      if (!answer.ok || !found) return form.submit();
      results.replaceChildren(...found.childNodes);
      history.replaceState(null, "", url);
    } catch (error) {
      if (error.name !== "AbortError") form.submit();
    }
  }

  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(plan, PAUSE);
  }

  for (const range of form.querySelectorAll("input[type=range]")) {
    const field = form.elements[range.dataset.for];
    range.hidden = false;
    range.addEventListener("input", () => { field.value = range.value; });
    field.addEventListener("input", () => { range.value = field.value; });
  }
  form.addEventListener("input", soon);
})();
