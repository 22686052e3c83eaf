// Light or dark, chosen once by the reader and else by the system; set before the page paints.
(function () {
  "use strict";
  var root = document.documentElement;
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function stored() {
    try { return localStorage.getItem("slotlight-theme"); } catch (e) { return null; }
  }
  function apply() {
    root.setAttribute("data-bs-theme", stored() || (system.matches ? "dark" : "light"));
  }
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("click", function (event) {
    if (!event.target.closest("[data-theme-toggle]")) return;
    var next = root.getAttribute("data-bs-theme") === "dark" ? "light" : "dark";
    try { localStorage.setItem("slotlight-theme", next); } catch (e) { /* private window: the choice lasts this page */ }
    root.setAttribute("data-bs-theme", next);
  });
})();
