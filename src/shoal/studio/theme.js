// Light or dark: as the system prefers, unless somebody chose the other one. Rules for the dark are switched on or off.
window.shoalLook = (() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = () => { try { return localStorage.getItem("shoal-look"); } catch (error) { return null; } };
  const rules = () => [...document.styleSheets].flatMap((sheet) => { try { return [...sheet.cssRules]; } catch (error) { return []; } })
    .filter((rule) => rule.media && (rule.ofDark ??= rule.media.mediaText.includes("prefers-color-scheme: dark")));
  const apply = () => {
    const chosen = kept();
    for (const rule of rules()) rule.media.mediaText = { dark: "all", light: "not all" }[chosen] ?? "(prefers-color-scheme: dark)";
    document.documentElement.style.colorScheme = chosen ?? "";
  };
  apply();
  return () => {
    const dark = (kept() ?? (system.matches ? "dark" : "light")) === "dark";
    const wanted = dark ? "light" : "dark";
    try {
      if (system.matches === (wanted === "dark")) localStorage.removeItem("shoal-look");
      else localStorage.setItem("shoal-look", wanted);
    } catch (error) { return; }
    apply();
  };
})();
