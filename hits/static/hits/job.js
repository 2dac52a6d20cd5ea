// Keeps a job's page up to date. Without scripts, the page reloads itself.
"use strict";

const POLL_MS = 1000;
// While the server does not respond, poll less and less often.
const LONGEST_WAIT_MS = 30000;

const sheet = document.querySelector("[data-progress]");
const label = sheet.querySelector("[data-label]");
const count = sheet.querySelector("[data-count]");
const bar = sheet.querySelector("[data-bar]");
const log = document.querySelector("[data-log]");
let wait = POLL_MS;

function show(job) {
  if (label.textContent !== job.label) {
    label.textContent = job.label;
    label.className = `status status-${job.state}`;
  }
  if (job.n_total) {
    bar.max = job.n_total;
    bar.value = job.n_done;
    count.textContent = `${job.n_done} of ${job.n_total}`;
  } else {
    bar.removeAttribute("value");
    count.textContent = job.n_done ? `${job.n_done} done` : "";
  }
  if (job.log && log.textContent !== job.log) {
    log.textContent = job.log;
    log.scrollTop = log.scrollHeight;
  }
}

async function poll() {
  try {
    const response = await fetch(sheet.dataset.progress, {
      headers: { Accept: "application/json" },
      redirect: "error",
    });
    if (!response.ok) {
      throw new Error(response.statusText);
    }
    const job = await response.json();
    if (job.is_finished) {
      window.location.reload();
      return;
    }
    show(job);
    wait = POLL_MS;
  } catch {
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
  window.setTimeout(poll, wait);
}

window.setTimeout(poll, wait);
