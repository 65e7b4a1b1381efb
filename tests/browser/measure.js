// Looks at framed pages as a reader would see them, and writes what is wrong with each as JSON.

const channels = text => (text.match(/[\d.]+/g) || []).map(Number);

function luminance([red, green, blue]) {
  const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
}

function contrast(one, other) {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function ground(element, view) {
  for (let at = element; at; at = at.parentElement) {
    const colour = channels(view.getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}

const ownText = element => [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join("").trim();
const named = element => `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""} “${(ownText(element) || element.textContent).trim().slice(0, 40)}”`;

function faults(frame) {
  const page = frame.contentDocument, view = frame.contentWindow, width = page.documentElement.clientWidth;
  const found = [];
  if (page.documentElement.scrollWidth > width) found.push(`the page is ${page.documentElement.scrollWidth} wide on ${width} pixels`);
  for (const element of page.querySelectorAll("body *")) {
    if (element.closest(".unseen, details:not([open]) > :not(summary), title, desc, style")) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const inside = element.closest(".scroll, pre");
    if ((box.right > width + 1 || box.left < -1) && !(inside && inside !== element)) found.push(`${named(element)} is cut off`);
    if (!ownText(element)) continue;
    const style = view.getComputedStyle(element);
    const ink = channels(element instanceof view.SVGElement ? style.fill : style.color);
    const ratio = contrast(ink, ground(element, view));
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 600);
    if (ratio < (large ? 3 : 4.5)) found.push(`${named(element)} has a contrast of ${ratio.toFixed(2)}`);
  }
  const levels = [...page.querySelectorAll("h1, h2, h3, h4")].map(heading => Number(heading.tagName[1]));
  levels.forEach((level, place) => { if (level > (levels[place - 1] || 0) + 1) found.push(`heading ${place + 1} skips a level`); });
  for (const picture of page.querySelectorAll("svg[role=img]")) {
    const words = ["aria-labelledby", "aria-describedby"].map(name => page.getElementById(picture.getAttribute(name)));
    if (!words.every(element => element && element.textContent.trim())) found.push(`${picture.outerHTML.slice(0, 80)} is not described`);
    if (!picture.closest("figure") || !picture.closest("figure").querySelector("table tbody tr")) found.push(`${named(picture)} has no table beside it`);
  }
  if (page.scripts.length) found.push("there is a script");
  return [...new Set(found)].slice(0, 8);
}

window.addEventListener("load", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const answer = [...document.querySelectorAll("iframe")].map(frame => ({
    name: frame.title, width: frame.contentDocument.documentElement.clientWidth,
    heading: frame.contentDocument.querySelector("h1").textContent,
    height: frame.contentDocument.documentElement.scrollHeight, faults: faults(frame),
  }));
  document.getElementById("answer").textContent = JSON.stringify({ dark, answer });
});
