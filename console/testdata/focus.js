// Notes what can be focused, in the order of the page, and looks at what has the focus. at is how many steps of the Tab key were taken; 0 begins.
((at) => {
  const where = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""} “${(e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 40)}”`;
  if (at === 0) {
    window.stops = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")].filter((e) => !e.matches(":disabled") && e.checkVisibility({ visibilityProperty: true }));
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
    return { left: window.stops.length, wrong: "" };
  }
  const e = document.activeElement, want = window.stops[at - 1], left = window.stops.length - at;
  if (e !== want) return { left: 0, wrong: `stop ${at} is ${where(e)}, not ${where(want)}` };
  const wrong = [];
  const drawn = (x) => { const s = getComputedStyle(x); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2; };
  if (!drawn(e) && !(e.closest(".row") && drawn(e.closest(".row")))) wrong.push(`no focus is seen on ${where(e)}`);
  const box = e.getBoundingClientRect(), x = [.1, .5, .9].map((f) => box.left + box.width * f), y = [.2, .5, .8].map((f) => box.top + box.height * f);
  const seen = x.some((x) => y.some((y) => { const hit = document.elementFromPoint(x, y); return hit && (e.contains(hit) || hit.closest("label")?.contains(e)); }));
  if (!seen) wrong.push(`${where(e)} has the focus and is covered or out of sight`);
  return { left, wrong: wrong.join("; ") };
})
