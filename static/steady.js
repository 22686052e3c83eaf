// No button takes another's place under a finger: one that has just come with another step rests for a moment before it can be pressed.
(function () {
  "use strict";
  var REST_MS = 1000, OF = ".sl-now .sl-actions button, .sl-rack form button, .sl-glass .btn-danger";
  var until = new WeakMap(), forms = new Set();

  function rests(button) { return (until.get(button) || 0) > performance.now(); }

  function mark(button) {
    if (rests(button)) {
      if (button.getAttribute("aria-disabled") !== "true") button.setAttribute("aria-disabled", "true");
    } else if (button.hasAttribute("aria-disabled")) button.removeAttribute("aria-disabled");
  }

  // A form that was here before is the same step, asked again; whoever corrects a word need not wait.
  function look() {
    var now = Array.from(document.querySelectorAll(OF));
    now.forEach(function (button) {
      if (!until.has(button)) {
        var isNew = forms.size && button.form && !forms.has(button.form.id);
        until.set(button, isNew ? performance.now() + REST_MS : 0);
        if (isNew) setTimeout(mark, REST_MS + 20, button);
      }
      mark(button);
    });
    forms = new Set(Array.from(document.querySelectorAll("main form[id]")).map(function (form) { return form.id; }));
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest("button");
    if (button && rests(button)) { event.preventDefault(); event.stopPropagation(); }
  }, true);
  document.addEventListener("DOMContentLoaded", function () {
    look();
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-disabled"] });
  });
})();
