// Measures every value of a page. Yields values that are clipped, that leave the screen, and boxes that scroll by themselves.
(() => {
  const wrong = [];
  const where = (e) => `${e.tagName.toLowerCase()}.${e.className} “${e.textContent.trim().slice(0, 40)}”`;
  for (const e of document.querySelectorAll("main th, main td, main .value, main .pill, main dd, main .sums li, main h1, main h3, main .title, main .row-facts span")) {
    if (!e.checkVisibility() || e.closest(".reads")) continue;
    const inline = getComputedStyle(e).display === "inline";
    if (!inline && e.scrollWidth > e.clientWidth + 1) wrong.push(`${where(e)} is ${e.scrollWidth} wide in ${e.clientWidth}`);
    for (const box of e.getClientRects()) {
      if (box.width < 2) continue; // hidden from sight, and read aloud
      if (box.left < -1 || box.right > innerWidth + 1) wrong.push(`${where(e)} leaves the screen: ${Math.round(box.left)} to ${Math.round(box.right)}`);
      for (let at = e.parentElement; at && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflow === "visible") continue;
        const frame = at.getBoundingClientRect();
        if (frame.width > 2 && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)) wrong.push(`${where(e)} is cut by ${where(at)}`);
      }
    }
  }
  // A number is never broken between two lines.
  for (const e of document.querySelectorAll("main .kind-number:not(.kind-long)")) if (e.checkVisibility() && e.getClientRects().length > 1) wrong.push(`${where(e)} is broken between lines`);
  for (const e of document.querySelectorAll("main *, header *")) {
    if (!/auto|scroll/.test(getComputedStyle(e).overflow) || e.matches("textarea, select") || !e.checkVisibility()) continue;
    if (e.scrollHeight > e.clientHeight + 1) wrong.push(`${where(e)} scrolls by itself: ${e.scrollHeight} in ${e.clientHeight}`);
  }
  return wrong.slice(0, 8).join("\n");
})()
