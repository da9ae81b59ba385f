// What makes pages live: keys, times that go on, and what is said aloud. Everything works without it.
"use strict";
(() => {
  const every = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  // Times go on.
  const words = (seconds) => seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min`
    : seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
  const tick = () => {
    for (const t of every("time[data-ago]")) t.textContent = words(Math.max(0, Math.floor((Date.now() - Date.parse(t.dateTime)) / 1000))) + " ago";
    for (const t of every("time[data-until]")) {
      const left = Math.floor((Date.parse(t.dateTime) - Date.now()) / 1000);
      const unit = left < 60 ? 1 : left < 3600 ? 60 : left < 172800 ? 3600 : 86400;
      t.textContent = left > 0 ? "in " + words(Math.round(left / unit) * unit) : "now";
    }
  };
  setInterval(tick, 1000);

  // A time is shown in the zone of its reader, beside UTC.
  const local = () => {
    for (const t of every("time[datetime][title]:not([data-local])")) {
      t.dataset.local = "yes";
      t.title = new Date(t.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" }) + " · " + t.title;
    }
  };
  local();

  // A row of links that is wider than the screen shows where its reader is. Browsers leave a link at its edge that is seen in part.
  const strip = ".top nav, .chips";
  const bring = (link) => {
    const row = link.closest(strip), at = link.getBoundingClientRect(), of = row.getBoundingClientRect(), edge = 24;
    row.scrollLeft += at.left < of.left + edge ? at.left - of.left - edge : Math.max(0, at.right - of.right + edge);
  };
  every("[aria-current]").filter((a) => a.closest(strip)).forEach(bring);
  document.addEventListener("focusin", (e) => { if (e.target.closest(strip)) bring(e.target); });

  // Rows of the queue.
  const rows = () => every("[data-row]").filter((r) => r.offsetParent !== null);
  const current = () => rows().findIndex((r) => r.classList.contains("at") || r.contains(document.activeElement));
  const go = (to) => {
    const all = rows();
    if (!all.length) return;
    every(".row.at").forEach((r) => r.classList.remove("at"));
    const row = all[Math.max(0, Math.min(all.length - 1, to))];
    row.classList.add("at");
    row.querySelector(".title").focus();
    row.scrollIntoView({ block: "nearest" });
  };
  const count = () => {
    const shown = one("[data-selected]");
    const n = every("[data-row] input:checked").length;
    if (shown) shown.textContent = n ? ` (${n})` : "";
  };
  document.addEventListener("change", (e) => {
    if (e.target.matches("[data-all]")) for (const box of every("input[name=id]", e.target.closest("details"))) box.checked = e.target.checked;
    count();
  });
  every(".all").forEach((l) => { l.hidden = false; });
  // On a narrow screen what is folded on demand begins folded.
  if (matchMedia("(max-width: 44rem)").matches) every("details[data-wide]").forEach((d) => { d.open = false; });

  const reveal = (id, field) => {
    const at = document.getElementById(id);
    if (!at) return false;
    if (at.tagName === "DETAILS") at.open = true;
    (field ? document.getElementById(field) : at).focus();
    at.scrollIntoView({ block: "center" });
    return true;
  };
  // A narrow screen has the button at its foot.
  const toApprove = () => {
    const at = approves().find((b) => b.checkVisibility());
    if (!at) return false;
    at.focus();
    at.scrollIntoView({ block: "center" });
    return true;
  };
  // Approve opens when every part of the difference was on the screen. Until then the button goes on to the next part.
  // A part that is taller than a few lines counts in slices. A part in a closed fold isn't counted: its heading is.
  const approves = () => every("#approve, .deeds [form=approve-form]").filter((b) => !b.disabled);
  let parts = [], pressed = -Infinity;
  const slice = (p, k) => { const r = p.at.getBoundingClientRect(); return r.top + r.height * (k + .5) / p.seen.length; };
  const pending = () => parts.filter((p) => p.seen.includes(false) && p.at.checkVisibility() && !p.at.querySelector("[name=change]:not(:checked)"));
  const screenEnd = () => Math.min(innerHeight, ...every(".deeds, form > .bar").filter((b) => b.checkVisibility()).map((b) => b.getBoundingClientRect().top));
  const screenTop = () => Math.max(0, one(".top")?.getBoundingClientRect().bottom ?? 0);
  const look = () => {
    const buttons = approves();
    if (!buttons.length || document.hidden) return;
    const from = screenTop(), to = Math.max(screenEnd(), from + 80);
    for (const p of parts) if (p.at.checkVisibility()) p.seen.forEach((was, k) => { const y = slice(p, k); if (!was && y >= from && y <= to) p.seen[k] = true; });
    const left = pending().length, waited = buttons.some((b) => b.dataset.left);
    for (const b of buttons) {
      b.dataset.name ??= b.textContent;
      const text = left ? `Read on (${left})` : b.dataset.name;
      if (b.textContent !== text) b.textContent = text;
      if (left) b.dataset.left = left; else delete b.dataset.left;
    }
    if (!left && waited && one("#said")) one("#said").textContent = "Every part was on the screen. Approve is open.";
  };
  const readOn = () => {
    const p = pending()[0]; // the focus stays on the button, so that Enter goes on and on
    if (p) scrollBy({ top: slice(p, p.seen.indexOf(false)) - screenTop() - 100, behavior: "instant" });
  };
  const measure = () => {
    const known = new Map(parts.map((p) => [p.at, p]));
    // A record that is marked as viewed was on a screen before.
    parts = every("[data-look]").filter((at) => !at.closest(".viewed") && !at.querySelector(".viewed-note")).map((at) => {
      const old = known.get(at), text = at.textContent;
      return old?.text === text ? old : { at, text, seen: Array(Math.max(1, Math.ceil(at.offsetHeight / 160))).fill(false) };
    });
    look();
  };
  document.addEventListener("submit", (e) => {
    if (!approves().includes(e.submitter)) return;
    // Who presses again and again to read on must not approve with the last press.
    const fast = performance.now() - pressed < 700;
    if (!fast && !pending().length) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    pressed = performance.now();
    readOn();
  }, true);
  let planned = false;
  const later = () => { if (!planned) { planned = true; requestAnimationFrame(() => { planned = false; look(); }); } };
  for (const event of ["scroll", "resize", "toggle", "change", "visibilitychange"]) document.addEventListener(event, later, true);
  addEventListener("resize", later);

  // A card that is taller than the screen ends with its buttons on the screen, and the page scrolls to its beginning.
  const sheet = new CSSStyleSheet();
  const place = () => {
    const card = one(".right");
    if (card) sheet.replaceSync(`.right { top: ${Math.min(76, innerHeight - card.offsetHeight - 12)}px; }`);
  };
  document.adoptedStyleSheets = [sheet];
  if (one(".right")) new ResizeObserver(place).observe(one(".right"));
  addEventListener("resize", place);

  // Who marks a record as viewed goes on to the next.
  let goesOn = false;
  const notViewed = () => one(".view-form button");
  const toNotViewed = () => {
    const at = notViewed() ?? one("#approve:not(:disabled)") ?? one("#viewed-of");
    if (!at) return;
    at.focus({ preventScroll: true });
    (at.closest("[id^=item-]") ?? at).scrollIntoView({ block: "start" });
  };
  const viewNext = (button) => { (button ?? notViewed())?.click(); };
  document.addEventListener("submit", (e) => { if (e.target.matches(".view-form")) goesOn = true; }, true);
  document.addEventListener("click", (e) => { if (e.target.closest("[data-next-view]") && notViewed()) { e.preventDefault(); toNotViewed(); } });

  const openAt = (hash) => {
    const row = rows()[current()];
    if (row) location.href = row.querySelector(".title").href + hash;
  };
  const part = (by) => {
    const all = every("[data-part]");
    const at = all.indexOf(document.activeElement);
    const to = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
    if (to) { to.focus(); to.scrollIntoView({ block: "center" }); }
  };
  const keys = {
    j: () => go(current() + 1),
    k: () => go(current() - 1),
    x: () => { const box = rows()[current()]?.querySelector("input"); if (box) { box.checked = !box.checked; count(); } },
    a: () => {
      if (toApprove()) return;
      if (every("[data-row] input:checked").length) one("#selected").requestSubmit(); else openAt("#to-approve");
    },
    r: () => { if (!reveal("reject", "reject-text")) openAt("#to-reject"); },
    c: () => reveal("comment", "comment-text"),
    v: () => viewNext(one("[id^=item-]:focus-within .view-form button, [id^=item-]:focus .view-form button")),
    u: () => { const up = one("[data-up]"); if (up) location.href = up.href; },
    n: () => part(1),
    p: () => part(-1),
    "/": () => { const box = one("[data-search]"); if (box) { const within = box.closest("details"); if (within) within.open = true; box.focus(); } },
    "?": () => one("#keys")?.showModal(),
  };
  // Keys of one letter can be turned off: they get in the way of speech input.
  const off = () => { try { return localStorage.getItem("keys") === "off"; } catch { return false; } };
  const toggle = one("[data-keys-off]");
  if (toggle) {
    toggle.checked = off();
    toggle.addEventListener("change", () => { try { localStorage.setItem("keys", toggle.checked ? "off" : "on"); } catch { /* for this page alone */ } });
  }
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    if (e.target.closest("dialog")) return;
    if (e.key === "Escape") { every(".me[open]").forEach((d) => { if (d.contains(e.target)) d.querySelector("summary").focus(); d.open = false; }); return; }
    if (e.target.closest("input:not([type=checkbox]), textarea, select")) return;
    if (keys[e.key] && !(toggle?.checked)) { e.preventDefault(); keys[e.key](); }
  });
  document.addEventListener("click", (e) => { if (e.target.closest("[data-keys]")) one("#keys")?.showModal(); });
  // The menu would cover what is pressed or focused next.
  for (const event of ["click", "focusin"]) document.addEventListener(event, (e) => every(".me[open]").forEach((d) => { if (!d.contains(e.target) && !e.target.closest("dialog")) d.open = false; }));
  every("[data-keys]").forEach((b) => { b.hidden = false; });
  document.addEventListener("click", (e) => {
    const to = e.target.closest("[data-reveal]");
    if (to && reveal(to.getAttribute("href").slice(1), to.dataset.reveal)) e.preventDefault();
  });
  measure();
  if (location.hash === "#to-reject") reveal("reject", "reject-text");
  if (location.hash === "#to-approve") toApprove();

  // Nobody should send a token where others read along.
  if (!window.isSecureContext && one("#plain")) {
    one("#plain").hidden = false;
    every(".door button").forEach((b) => { b.disabled = true; });
  }

  // A form is sent once.
  document.addEventListener("submit", (e) => {
    if (e.target.method !== "post") return;
    if (e.target.dataset.sent) { e.preventDefault(); return; }
    e.target.dataset.sent = "yes";
    setTimeout(() => { delete e.target.dataset.sent; }, 5000);
  });

  // What happens elsewhere is said aloud, and a session that has ended as well.
  const lost = (is) => { const at = one("#lost"); if (at) at.hidden = !is; };
  addEventListener("offline", () => lost(true));
  document.addEventListener("htmx:sse:after:connection", () => lost(false));
  document.addEventListener("htmx:sse:error", (e) => {
    if (e.detail?.status !== 401 && !document.hidden) lost(true);
    if (e.detail?.status === 401) { const gone = one("#gone"); if (gone) gone.hidden = false; }
  });
  document.addEventListener("htmx:after:swap", (e) => {
    const said = one("#said");
    if (said && one("#sheet") && e.target?.closest?.("#sheet")) said.textContent = "This change has moved: " + (one(".stages [aria-current], .stages .bad, .stages li:last-child")?.textContent ?? "");
    tick();
    local();
    measure();
    place();
    if (goesOn) { goesOn = false; toNotViewed(); }
  });
})();
