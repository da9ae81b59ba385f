// Looks at a page as somebody would who can't see well, has a narrow screen or no mouse. Yields what is wrong.
(() => {
  const wrong = [];
  const where = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""}${typeof e.className === "string" && e.className ? "." + e.className.trim().replaceAll(" ", ".") : ""} “${(e.textContent ?? "").trim().slice(0, 40)}”`;
  const page = document.scrollingElement;
  if (page.scrollWidth > innerWidth + 1) {
    const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map(where);
    wrong.push(`it is ${page.scrollWidth} wide on a screen of ${innerWidth}: ${wide.join("; ")}`);
  }
  if (devicePixelRatio > 1 && innerWidth > screen.width) wrong.push(`it makes a screen of ${screen.width} ${innerWidth} wide`); // as a phone does where something is too wide
  for (const [selector, n] of [["h1", 1], ["main", 1], ["header", 1], ["footer", 1]])
    if (document.querySelectorAll(selector).length !== n) wrong.push(`${document.querySelectorAll(selector).length} of ${selector}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`two have the id ${id}`);
  for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!e.labels?.length && !e.getAttribute("aria-label")) wrong.push(`no label: ${where(e)} ${e.name}`);
  for (const e of document.querySelectorAll("a, button, summary"))
    if (!(e.getAttribute("aria-label") || e.textContent).trim()) wrong.push(`no name: ${where(e)}`);
  for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
    for (const id of `${e.getAttribute("aria-labelledby") ?? ""} ${e.getAttribute("aria-describedby") ?? ""}`.trim().split(/ +/))
      if (!document.getElementById(id)) wrong.push(`${where(e)} is labelled by ${id}, which isn't there`);
  for (const e of document.querySelectorAll("svg:not([aria-hidden])")) wrong.push(`a picture without words: ${where(e.parentElement)}`);

  // Contrast: the colour of each text against what is painted below it.
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] / 255 + below[i] * (1 - top[3] / 255));
  const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (rgb) => { const [r, g, b] = rgb.map((c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const contrast = (one, other) => { const [a, b] = [light(one), light(other)].sort((x, y) => y - x); return (a + .05) / (b + .05); };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || seen.has(e) || e.closest(".reads, .skip, script, option, title, [hidden], dialog:not([open]), :disabled") || !e.checkVisibility()) continue;
    seen.add(e);
    const back = ground(e), ratio = contrast(over(rgba(getComputedStyle(e).color), back), back);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${where(e)}`);
  }
  // The border of a field against what surrounds it.
  for (const e of document.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea")) {
    if (!e.checkVisibility() || e.closest(".reads")) continue;
    const { borderTopColor, borderTopWidth } = getComputedStyle(e), back = ground(e.parentElement), ratio = contrast(over(rgba(borderTopColor), back), back);
    if (parseFloat(borderTopWidth) < 1 || ratio < 3) wrong.push(`a border of ${borderTopWidth}, contrast ${ratio.toFixed(2)}: ${where(e)} ${e.name}`);
  }
  return wrong.slice(0, 12).join("\n");
})()
