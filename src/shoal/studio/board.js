// A region of the page whose HTML the server makes. What is there already stays there, with its focus and scrolling.

const plain = (node) => node.nodeType === Node.TEXT_NODE;

function alike(have, want) {
  return have.nodeType === want.nodeType && have.nodeName === want.nodeName && (have.id || "") === (want.id || "");
}

function began(field) {
  // How a field begins, as its attributes tell; what it holds now is a property.
  if (field.nodeName === "INPUT") return `${field.getAttribute("value")} ${field.hasAttribute("checked")}`;
  if (field.nodeName === "TEXTAREA") return field.textContent;
  return [...field.querySelectorAll("option[selected]")].map((one) => one.value).join();
}

function settle(have, want, before) {
  // A field that tells the server is as the server says; another one only where the server says something new.
  if (have.dataset.dirty) return;
  if (!have.dataset.do && !have.dataset.live && began(want) === before) return;
  if (have.nodeName === "INPUT") {
    if (have.type === "checkbox" || have.type === "radio") have.checked = want.hasAttribute("checked");
    else if (have.type !== "file" && have.value !== (want.getAttribute("value") || "")) have.value = want.getAttribute("value") || "";
  } else if (have.nodeName === "TEXTAREA") {
    if (have.value !== want.textContent) have.value = want.textContent;
  } else if (have.nodeName === "SELECT") {
    const chosen = want.querySelector("option[selected]") || want.querySelector("option");
    if (chosen) have.value = chosen.getAttribute("value") ?? chosen.textContent;
  }
}

function morph(have, want) {
  if (plain(have)) {
    if (have.nodeValue !== want.nodeValue) have.nodeValue = want.nodeValue;
    return;
  }
  if (have.nodeType !== Node.ELEMENT_NODE) return;
  const before = have.matches("input, select, textarea") ? began(have) : null;
  const fetched = have.dataset.src && have.dataset.src === want.dataset.src;
  for (const { name } of [...have.attributes]) {
    const kept = name === "open" || name === "data-dirty" || (fetched && (name === "data-loaded" || name === "aria-busy"));
    if (!want.hasAttribute(name) && !kept) have.removeAttribute(name);
  }
  for (const { name, value } of [...want.attributes]) {
    if (name === "open" && have.nodeName === "DETAILS" && have.dataset.seen) continue;
    if (fetched && name === "aria-busy") continue;
    if (have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
  if (fetched) return;
  if (have.dataset.loaded) delete have.dataset.loaded;
  children(have, want);
  if (before !== null) settle(have, want, before);
}

function children(have, want) {
  const keyed = new Map();
  // By nodes: a field of a form may be called like any property of it.
  for (const child of have.childNodes) if (child.id) keyed.set(child.id, child);
  let here = have.firstChild;
  for (const child of [...want.childNodes]) {
    let found = child.id ? keyed.get(child.id) : null;
    if (!found && here && alike(here, child) && !child.id) found = here;
    if (found && alike(found, child)) {
      if (found === here) here = here.nextSibling;
      else have.insertBefore(found, here);
      morph(found, child);
    } else {
      have.insertBefore(child, here);
    }
  }
  while (here) {
    const next = here.nextSibling;
    have.removeChild(here);
    here = next;
  }
}

function beside(pane, other) {
  // Scroll to the same column, however wide it is in either table.
  const [here, there] = [pane, other].map((one) => [...one.querySelectorAll("thead th")]);
  const place = here.findLastIndex((cell) => cell.offsetLeft <= pane.scrollLeft);
  if (place < 0 || here.length !== there.length) { other.scrollLeft = pane.scrollLeft; return; }
  const share = (pane.scrollLeft - here[place].offsetLeft) / (here[place].offsetWidth || 1);
  other.scrollLeft = there[place].offsetLeft + share * there[place].offsetWidth;
}

function form(element) {
  const fields = {};
  const around = element.closest("form, [data-fields]");
  if (!around) return fields;
  for (const field of around.querySelectorAll("input[name], select[name], textarea[name]")) {
    if (field.type === "checkbox") {
      fields[field.name] ??= [];
      if (field.checked) fields[field.name].push(field.value);
    } else if (field.type === "radio") {
      if (field.checked) fields[field.name] = field.value;
    } else if (field.type !== "file") {
      fields[field.name] = field.value;
    }
  }
  return fields;
}

export default {
  template: `<div ref="root" class="board"></div>`,
  props: { content: String },
  mounted() {
    const root = this.$refs.root;
    root.addEventListener("click", this.clicked);
    root.addEventListener("change", this.changed);
    root.addEventListener("input", this.typed);
    root.addEventListener("submit", (event) => event.preventDefault());
    root.addEventListener("keydown", this.pressed);
    root.addEventListener("toggle", (event) => { event.target.dataset.seen = "1"; }, true);
    for (const name of ["dragover", "dragleave", "drop"]) root.addEventListener(name, this.dragged);
    this.back = () => this.$emit("act", { do: "go", place: location.pathname, data: {}, form: {} });
    window.addEventListener("popstate", this.back);
    this.paint();
  },
  unmounted() {
    window.removeEventListener("popstate", this.back);
  },
  watch: { content() { this.paint(); } },
  methods: {
    paint() {
      clearTimeout(this.asking);
      const root = this.$refs.root;
      const sheet = document.createElement("template");
      sheet.innerHTML = this.content;
      children(root, sheet.content);
      const page = root.querySelector("[data-title]");
      if (page && this.step !== undefined && this.step !== page.dataset.step) root.querySelector("h1")?.focus();
      if (page) this.step = page.dataset.step;
      if (page) requestAnimationFrame(() => setTimeout(() => this.call(page.dataset)));
      for (const part of root.querySelectorAll("[data-src]:not([data-loaded])")) this.load(part);
      for (const pair of root.querySelectorAll("[data-together]")) this.together(pair);
      if (this.then) document.getElementById(this.then)?.scrollIntoView({ block: "nearest" });
      this.then = null;
      root.dataset.painted = String(Number(root.dataset.painted || 0) + 1);
    },
    call({ title, place }) {
      // The window and its history say what is shown; they take longer than the page, and so come after it.
      if (document.title !== title) document.title = title;
      if (place && location.pathname !== place) history.pushState({}, "", place);
    },
    async load(part) {
      part.dataset.loaded = "1";
      part.setAttribute("aria-busy", "true");
      const source = part.dataset.src;
      try {
        const answer = await fetch(source);
        const text = await answer.text();
        if (part.dataset.src !== source) return;
        part.innerHTML = answer.ok ? text : `<p class="notice broken" role="alert"></p>`;
        if (!answer.ok) part.firstChild.textContent = text;
        for (const pair of part.querySelectorAll("[data-together]")) this.together(pair);
      } catch (error) {
        part.innerHTML = `<p class="notice broken" role="alert">This part cannot be loaded; reload the page.</p>`;
      }
      part.removeAttribute("aria-busy");
    },
    together(pair) {
      // Two tables that are scrolled together.
      if (pair.dataset.tied) return;
      pair.dataset.tied = "1";
      const panes = [...pair.children].filter((one) => one.matches("[data-pane]"));
      let leads = null;
      for (const pane of panes) {
        pane.addEventListener("scroll", () => {
          if (leads && leads !== pane) return;
          leads = pane;
          for (const other of panes) if (other !== pane) { other.scrollTop = pane.scrollTop; beside(pane, other); }
          requestAnimationFrame(() => { leads = null; });
        });
      }
    },
    tell(element, name, more = {}) {
      // What is answered at once need not say that it was asked.
      clearTimeout(this.asking);
      this.asking = setTimeout(() => element.classList.add("asked"), 150);
      setTimeout(() => element.classList.remove("asked"), 1500);
      if (element.matches(".cell")) {
        for (const cell of this.$refs.root.querySelectorAll(".cell.chosen")) cell.classList.remove("chosen");
        element.classList.add("chosen");
      }
      this.wait(element.dataset.wait);
      this.then = element.dataset.then || null;
      this.$emit("act", { do: name, data: { ...element.dataset }, form: form(element), ...more });
    },
    wait(said) {
      // What takes its time says so; the answer paints it over.
      const place = said && this.$refs.root.querySelector("[data-waiting]");
      if (place) place.innerHTML = `<p class="wait"></p>`;
      if (place) place.firstChild.textContent = said;
    },
    async take(link) {
      // A file that is made when it is asked for: say that it is being made, and why it is not to be had.
      const said = link.parentElement.querySelector("[data-said]");
      if (said.dataset.busy) return;
      said.dataset.busy = "1";
      said.className = "wait";
      said.textContent = link.dataset.take;
      try {
        const answer = await fetch(link.href);
        if (!answer.ok) throw new Error((await answer.json()).detail);
        const file = document.createElement("a");
        file.href = URL.createObjectURL(await answer.blob());
        file.download = link.download;
        file.click();
        setTimeout(() => URL.revokeObjectURL(file.href), 60000);
        said.className = "note";
        said.textContent = "Proved, and in your downloads.";
      } catch (error) {
        said.className = "notice broken";
        said.textContent = error.message;
      }
      delete said.dataset.busy;
    },
    clicked(event) {
      const copied = event.target.closest("[data-copy]");
      if (copied) {
        const text = document.getElementById(copied.dataset.copy).textContent;
        navigator.clipboard?.writeText(text).then(() => { copied.querySelector("[data-said]").textContent = "Copied"; });
        return;
      }
      if (event.target.closest("[data-look]")) {
        window.shoalLook();
        return;
      }
      const all = event.target.closest("[data-all]");
      if (all) {
        for (const box of this.$refs.root.querySelectorAll(`input[name="${all.dataset.all}"]`)) box.checked = all.checked;
        return;
      }
      const taken = event.target.closest("a[data-take]");
      if (taken) {
        event.preventDefault();
        this.take(taken);
        return;
      }
      const element = event.target.closest("[data-do]");
      if (!element || element.matches("input:not([type=button]), select, textarea, form")) return;
      if (element.matches("a") && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      if (element.getAttribute("aria-disabled") === "true") return;
      this.tell(element, element.dataset.do, { place: element.getAttribute("href") || "" });
    },
    pressed(event) {
      const element = event.target.closest("[data-do][role=button]");
      if (element && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        this.tell(element, element.dataset.do);
      }
      const field = event.target.closest("input[data-enter]");
      if (field && event.key === "Enter") {
        event.preventDefault();
        const button = document.getElementById(field.dataset.enter);
        delete field.dataset.dirty;
        if (button) this.tell(button, button.dataset.do);
      }
    },
    typed(event) {
      const field = event.target;
      field.dataset.dirty = "1";
      const output = field.dataset.output && document.getElementById(field.dataset.output);
      const words = (field.dataset.values || "").split(" ");
      if (output) output.textContent = words[field.value] || field.value;
      if (field.dataset.live) {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => { delete field.dataset.dirty; this.tell(field, field.dataset.live, { value: field.value }); }, 250);
      }
    },
    changed(event) {
      const field = event.target;
      if (field.type === "file") {
        this.send(field.closest("[data-upload]"), field.files);
        field.value = "";
        return;
      }
      delete field.dataset.dirty;
      if (!field.matches("[data-do]")) return;
      const value = field.type === "checkbox" ? field.checked : field.value;
      this.tell(field, field.dataset.do, { value });
    },
    dragged(event) {
      const zone = event.target.closest("[data-upload]");
      if (!zone) return;
      event.preventDefault();
      zone.classList.toggle("over", event.type === "dragover");
      if (event.type === "drop") this.send(zone, event.dataTransfer.files);
    },
    send(zone, files) {
      if (!zone || !files.length) return;
      const file = files[0];
      const said = zone.querySelector("[data-said]");
      const request = new XMLHttpRequest();
      request.open("POST", `/api/files?name=${encodeURIComponent(file.name)}&sitting=${zone.dataset.sitting || ""}`);
      request.upload.onprogress = (event) => {
        if (said && event.lengthComputable) said.textContent = `Loading ${file.name}: ${Math.round(100 * event.loaded / event.total)} %`;
      };
      request.onload = () => {
        if (said) said.textContent = "";
        this.wait(`Reading ${file.name} …`);
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch (error) { answer = { detail: request.responseText }; }
        if (request.status < 300) this.tell(zone, zone.dataset.upload, { value: answer });
        else this.tell(zone, "refused", { value: String(answer.detail || request.statusText) });
      };
      request.onerror = () => this.tell(zone, "refused", { value: `${file.name} was not loaded: the studio takes no file of that size, or it is gone.` });
      request.send(file);
    },
  },
};
