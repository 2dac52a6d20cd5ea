"use strict";

// The source of an item, if it is a picture, a sound or a video. Without a connection the page says so, and tries
// again when it is back; ratings are kept meanwhile as always.
(() => {
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
    // Browsers differ in whether the space bar plays what has the focus.
    if (element.matches("audio, video")) element.addEventListener("keydown", playOrPause);
    for (const event of ["load", "loadedmetadata"]) {
      element.addEventListener(event, () => { problem.hidden = true; });
    }
    // It may have failed before this script ran.
    if (element.error || (element.matches("img") && element.complete && !element.naturalWidth)) fail();
  }

  function make(item) {
    const element = document.createElement(item.media === "image" ? "img" : item.media);
    const label = box.dataset[item.media];
    if (item.media === "image") {
      element.alt = label;
    } else {
      element.controls = true;
      element.preload = "metadata";
      element.setAttribute("aria-label", label);
      element.setAttribute("playsinline", "");
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
  box.hidden = !box.firstElementChild;
})();
