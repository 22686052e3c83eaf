// Small comforts, on top of pages that are whole without them: keys, copy buttons, times in the reader's own zone.
(function () {
  "use strict";

  // --- times: what the portal says in UTC is shown as the reader's clock shows it; UTC stays where the pointer rests.

  function two(number) { return String(number).padStart(2, "0"); }

  function day(at) { return at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate()); }

  function zone(at) {
    var part = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" }).formatToParts(at).find(function (one) { return one.type === "timeZoneName"; });
    return part ? part.value : "";
  }

  function local(time) {
    var at = new Date(time.getAttribute("datetime")), said = time.textContent.trim();
    if (isNaN(at) || time.dataset.said === said) return;
    var seconds = /\d:\d\d:\d\d/.test(said) ? ":" + two(at.getSeconds()) : "";
    var clock = two(at.getHours()) + ":" + two(at.getMinutes()) + seconds;
    var dated = time.dataset.time !== "clock" || day(at) !== day(new Date());
    time.title = at.toISOString().slice(0, 19).replace("T", " ") + " UTC";
    time.textContent = (dated ? day(at) + " " : "") + clock + (/UTC/.test(said) ? " " + zone(at) : "");
    time.dataset.said = time.textContent;
  }

  // --- copy buttons

  var status = document.createElement("div");
  status.setAttribute("role", "status");
  status.className = "visually-hidden";

  function text(element) {
    if (element.dataset.copy) return element.dataset.copy;
    var alone = element.cloneNode(true);
    alone.querySelectorAll(".sl-copy").forEach(function (one) { one.remove(); });
    return alone.textContent.trim();
  }

  function button(element) {
    var inside = element.matches("dd, td, li"), there = inside ? element.lastElementChild : element.nextElementSibling;
    if (there && there.matches(".sl-copy")) return;
    var made = document.createElement("button");
    made.type = "button";
    made.className = "sl-copy";
    made.textContent = "Copy";
    made.setAttribute("aria-label", "Copy " + text(element).slice(0, 60));
    if (inside) element.append(made); else element.after(made);
  }

  function copied(made, words) {
    status.textContent = words;
    made.textContent = words;
    setTimeout(function () { made.textContent = "Copy"; status.textContent = ""; }, 2000);
  }

  // Over plain HTTP a browser offers no clipboard; the old way still works there.
  function byHand(value) {
    var field = document.createElement("textarea");
    field.value = value;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    var done = document.execCommand("copy");
    field.remove();
    return done ? Promise.resolve() : Promise.reject();
  }

  function copy(made) {
    var parent = made.parentElement, of = parent.matches("[data-copy]") ? parent : made.previousElementSibling;
    var value = text(of), said = navigator.clipboard ? navigator.clipboard.writeText(value) : byHand(value);
    said.then(function () { copied(made, "Copied"); }, function () { copied(made, "Not copied: mark it and copy it yourself"); });
  }

  // --- keys

  var GO = { f: "Fleet", r: "Runs", a: "Approvals", l: "Ledger" }, KEYS = "slotlight-keys", WAIT_MS = 1500;
  var began = null, help = null;

  function off() {
    try { return localStorage.getItem(KEYS) === "off"; } catch (e) { return false; }
  }

  function busy(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return true;
    if (document.querySelector("dialog[open], [role=dialog]:not([hidden])")) return true;
    var at = event.target;
    return !!(at.closest && (at.closest("input, textarea, select") || at.isContentEditable));
  }

  function line(list, keys, words) {
    var term = document.createElement("dt"), said = document.createElement("dd");
    keys.split(" ").forEach(function (key, index) {
      var cap = document.createElement("kbd");
      cap.textContent = key;
      if (index) term.append(" ");
      term.append(cap);
    });
    said.textContent = words;
    list.append(term, said);
  }

  function makeHelp() {
    var dialog = document.createElement("dialog"), head = document.createElement("h2"), list = document.createElement("dl");
    dialog.className = "sl-help";
    dialog.setAttribute("aria-labelledby", "help-keys");
    head.id = "help-keys";
    head.textContent = "Keys";
    line(list, "/", "Search");
    Object.keys(GO).forEach(function (key) { line(list, "g " + key, GO[key]); });
    line(list, "?", "This help");
    line(list, "Esc", "Close it");
    var label = document.createElement("label"), box = document.createElement("input"), form = document.createElement("form"), close = document.createElement("button");
    box.type = "checkbox";
    box.checked = !off();
    box.addEventListener("change", function () {
      try { localStorage.setItem(KEYS, box.checked ? "on" : "off"); } catch (e) { /* private window: it lasts this page */ }
    });
    label.append(box, " Use these keys (? always works)");
    var guide = document.querySelector("a[data-guide]"), more = document.createElement("p");
    if (guide) {
      var link = document.createElement("a");
      link.href = guide.href;
      link.textContent = "Open the guide";
      more.className = "mt-3 mb-0";
      more.append(link, ": first steps, runbooks, approvals, what to do when something is not known.");
    }
    form.method = "dialog";
    close.className = "btn mt-3";
    close.textContent = "Close";
    form.append(close);
    dialog.append(head, list, label, more, form);
    document.body.append(dialog);
    return dialog;
  }

  function pressed(event) {
    if (busy(event)) return;
    if (event.key === "?") {
      help = help || makeHelp();
      help.showModal();
      event.preventDefault();
      return;
    }
    if (off()) return;
    var second = began !== null && event.timeStamp - began < WAIT_MS; // when they were pressed: a page that is busy may hear of both late
    began = null;
    if (second && GO[event.key]) {
      var to = document.querySelector('a[data-go="' + event.key + '"]');
      if (to) window.location.assign(to.href);
    } else if (event.key === "g") {
      began = event.timeStamp;
    } else if (event.key === "/") {
      var field = document.querySelector("input[type=search][data-search]");
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    }
  }

  function all() {
    document.querySelectorAll("time[datetime]").forEach(local);
    document.querySelectorAll("[data-copy]").forEach(button);
  }

  // A page that looks again lays what the portal says over what is here, in UTC and without buttons; this comes before it is painted.
  document.addEventListener("DOMContentLoaded", function () {
    document.body.append(status);
    all();
    new MutationObserver(all).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", function (event) {
    var made = event.target.closest(".sl-copy");
    if (made) copy(made);
  });
  // Seconds that pass while nobody says anything new: "looked 3 s ago, looks again in 2 s". What the portal says next replaces them.
  setInterval(function () {
    document.querySelectorAll("[data-count]").forEach(function (made) {
      var left = Number(made.textContent) + (made.dataset.count === "up" ? 1 : -1);
      if (left <= 0 && made.dataset.then) made.parentElement.textContent = made.dataset.then;
      else made.textContent = String(Math.max(0, left));
    });
  }, 1000);
})();
