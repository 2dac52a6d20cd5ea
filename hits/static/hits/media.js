"use strict";

// The source of an item, if it is a picture, a sound or a video. Without a connection the page says so, and tries
// again when it is back; ratings are kept meanwhile as always. Returns what makes that of an earlier segment.
// eslint-disable-next-line no-unused-vars
const earlierMedia = (() => {
  const box = document.getElementById("media");
  const problem = document.getElementById("media-problem");
  const again = document.getElementById("media-again");
  const { item: firstItem, source, captions, language, track: trackLabel } = box.dataset;
  let shown = firstItem;

  const addressOf = (pattern, item) => pattern.replace(firstItem, item);

  function fail() { problem.hidden = false; }

  function playOrPause(event) {
    if (event.key !== " ") return;
    event.preventDefault();
    const player = event.currentTarget;
    if (player.paused) player.play().catch(fail);
    else player.pause();
  }

  function watch(element) {
    if (!element) return;
    element.addEventListener("error", fail);
    for (const event of ["load", "loadedmetadata"]) {
      element.addEventListener(event, () => { problem.hidden = true; });
    }
    // It may have failed before this script ran.
    if (element.error || (element.matches("img") && element.complete && !element.naturalWidth)) fail();
  }

  function make(item, { isEarlier = false } = {}) {
    const element = document.createElement(item.media === "image" ? "img" : item.media);
    const label = box.dataset[item.media];
    if (item.media === "image") {
      element.alt = label;
      // Only what comes into view: a document may be folded.
      if (isEarlier) element.loading = "lazy";
    } else {
      element.controls = true;
      element.preload = isEarlier ? "none" : "metadata";
      element.setAttribute("aria-label", label);
      element.setAttribute("playsinline", "");
      // Browsers differ in whether the space bar plays what has the focus.
      element.addEventListener("keydown", playOrPause);
    }
    if (item.has_captions) {
      const track = document.createElement("track");
      Object.assign(track, { kind: "captions", srclang: language, label: trackLabel, default: true });
      track.src = addressOf(captions, item.item);
      element.append(track);
    }
    element.src = addressOf(source, item.item);
    return element;
  }

  function show(item) {
    problem.hidden = true;
    box.querySelector("audio, video")?.pause();
    const element = item?.media ? make(item) : null;
    box.replaceChildren(...(element ? [element] : []));
    box.hidden = !element;
    watch(element);
    shown = item?.item;
  }

  function retry() {
    const element = box.firstElementChild;
    if (problem.hidden || !element) return;
    const fresh = element.cloneNode(true);
    fresh.addEventListener("keydown", playOrPause);
    element.replaceWith(fresh);
    problem.hidden = true;
    watch(fresh);
  }

  document.addEventListener("itemshown", ({ detail }) => {
    // The server has already put the first one there.
    if (detail?.item !== shown) show(detail);
  });
  again.addEventListener("click", retry);
  window.addEventListener("online", retry);
  watch(box.firstElementChild);
  document.querySelectorAll(":is(#media, #earlier) :is(audio, video)").forEach((player) => {
    player.addEventListener("keydown", playOrPause);
  });
  box.hidden = !box.firstElementChild;
  return (item) => make(item, { isEarlier: true });
})();
