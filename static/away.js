// When the answer is not the page's: signed out, or the portal out of reach. What somebody typed is kept, and what stands on the page is
// no longer called fresh. A refusal gives the focus back to where it was.
(function () {
  "use strict";
  var KEPT = "slotlight-typed:", FIELDS = "textarea[name], input[name]:not([type=hidden]):not([type=password]):not([type=search]):not([type=radio]):not([type=checkbox])";
  var ANSWER_MS = 12000; // what a look may take; a page of the largest fleet takes a tenth of it
  var UNKNOWN = " Whether what you sent was done is not known: this page shows it once the portal answers. Send it again only if it is still asked for.";
  var heard = new Date(), focused = null, unsure = ""; // unsure: said until the portal answers, whatever else fails meanwhile

  function place(field) { return (field.form ? field.form.id : "") + "/" + field.name; }

  function clock(at) { return at.toTimeString().slice(0, 8); }

  function fields() { return Array.from(document.querySelectorAll("main " + FIELDS)); }

  function keep() {
    var typed = {};
    fields().forEach(function (field) { if (field.value && field.value !== field.defaultValue) typed[place(field)] = field.value; });
    try { sessionStorage.setItem(KEPT + location.pathname, JSON.stringify(typed)); } catch (e) { /* private window: it stays on this page */ }
  }

  function giveBack() {
    var key = KEPT + location.pathname, typed = {};
    try { typed = JSON.parse(sessionStorage.getItem(key) || "{}"); sessionStorage.removeItem(key); } catch (e) { return; }
    fields().forEach(function (field) {
      if (typed[place(field)] && !field.value) { field.value = typed[place(field)]; var box = field.closest("details"); if (box) box.open = true; }
    });
  }

  function tell(words, link) {
    var bar = document.getElementById("away");
    if (!bar) {
      bar = document.createElement("div");
      bar.id = "away";
      bar.className = "sl-note bad sl-away";
      bar.setAttribute("role", "alert");
      document.body.prepend(bar);
    }
    if (bar.dataset.said === words) return;
    bar.dataset.said = words;
    bar.textContent = words + " ";
    if (link) {
      var to = document.createElement("a");
      to.href = link;
      to.textContent = "Sign in again";
      to.addEventListener("click", keep);
      bar.append(to);
    }
  }

  function isBack() {
    heard = new Date();
    unsure = "";
    var bar = document.getElementById("away");
    if (bar) bar.remove();
    document.body.classList.remove("sl-old");
  }

  function outOfReach(why) {
    document.body.classList.add("sl-old");
    tell(why + unsure + " What stands here is as the portal last said it, at " + clock(heard) + " by your clock. What you type stays; this page goes on by itself.");
  }

  function sends(event) { return event.detail.requestConfig.verb !== "get"; }

  // A look that is not answered is given up and made again. What was sent is not: it may have been done, and its answer says so.
  document.addEventListener("htmx:beforeSend", function (event) {
    var xhr = event.detail.xhr;
    if (!sends(event)) { xhr.timeout = ANSWER_MS; return; }
    var late = setTimeout(function () { unsure = UNKNOWN; outOfReach("The portal does not answer."); }, ANSWER_MS);
    xhr.addEventListener("loadend", function () { clearTimeout(late); });
  });
  document.addEventListener("htmx:sendError", function (event) {
    if (sends(event)) unsure = UNKNOWN;
    outOfReach("The portal cannot be reached.");
  });
  document.addEventListener("htmx:timeout", function () { outOfReach("The portal does not answer."); });
  document.addEventListener("htmx:afterRequest", function (event) {
    var xhr = event.detail.xhr;
    if (!xhr || !xhr.status) return;
    if (xhr.status === 401) {
      keep();
      document.body.classList.add("sl-old");
      tell("You are signed out, so nothing was sent. What you typed is kept and is here again once you have signed in.", xhr.getResponseHeader("X-Sign-In") + "?next=" + encodeURIComponent(location.pathname + location.search));
    } else if (xhr.status >= 500) outOfReach("The portal has trouble and answers " + xhr.status + ".");
    else isBack();
  });

  function typedIn(form) {
    return Array.from(form.querySelectorAll(FIELDS)).map(function (field) { return [field.name, field.value]; });
  }

  // What was refused is there to be corrected: unfolded, as it was typed.
  function unfold(form, typed) {
    for (var box = form.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    typed.forEach(function (one) { var field = form.elements[one[0]]; if (field && field.value === "") field.value = one[1]; });
  }

  // A part that is put in anew takes the focus with it.
  document.addEventListener("htmx:beforeSwap", function (event) {
    var at = document.activeElement;
    focused = at && at !== document.body && event.detail.target && event.detail.target.contains(at)
      ? { id: at.id, form: at.form ? at.form.id : "", name: at.name, value: at.matches("button") ? at.value : "",
        typed: at.form && event.detail.xhr.status >= 400 ? typedIn(at.form) : [] } : null;
  });
  document.addEventListener("htmx:afterSettle", function () {
    if (!focused || (document.activeElement && document.activeElement !== document.body)) { focused = null; return; }
    var form = focused.form && document.getElementById(focused.form), was = focused;
    focused = null;
    if (form && was.typed.length) unfold(form, was.typed);
    var there = (was.id && document.getElementById(was.id)) || (form && Array.from(form.elements).find(function (one) {
      return one.name && one.type !== "hidden" && one.name === was.name && (!was.value || one.value === was.value);
    })) || document.getElementById("refusal") || document.getElementById("now-title");
    if (!there) return;
    if (!there.matches("input, textarea, select, button, a")) there.tabIndex = -1;
    there.focus({ preventScroll: true });
  });
  document.addEventListener("DOMContentLoaded", giveBack);
})();
