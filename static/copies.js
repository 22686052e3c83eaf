// A copy that takes its time says how far it is: what the portal is doing, then how much has come. Without scripts the link is a plain download.
(function () {
  "use strict";
  var ASK_MS = 500, STAYS_MS = 15000, MIB = 1048576;

  function size(bytes) { return bytes < MIB ? Math.max(1, Math.round(bytes / 1024)) + " KiB" : (bytes / MIB).toFixed(1) + " MiB"; }

  function seconds(since) { return Math.round((Date.now() - since) / 1000) + " s"; }

  // Beside the page, not in it: taking a copy is an event, and the page under it looks again while the copy is made.
  var making = new Set(), place = document.createElement("div");
  place.className = "sl-copying d-print-none";
  document.addEventListener("DOMContentLoaded", function () { document.body.append(place); });

  function panel() {
    var made = document.createElement("div"), bar = document.createElement("progress"), words = document.createElement("p");
    words.setAttribute("role", "status");
    bar.className = "sl-bar";
    bar.setAttribute("aria-label", "How far the copy is");
    made.append(words, bar);
    place.append(made);
    return { whole: made, bar: bar, words: words };
  }

  function far(shown, through, of) {
    if (of) { shown.bar.max = of; shown.bar.value = through; } else { shown.bar.removeAttribute("value"); }
  }

  // While the portal makes it.
  function ask(shown, name, began) {
    return setInterval(function () {
      fetch("/progress/" + name + "/", { headers: { Accept: "application/json" } }).then(function (answer) { return answer.ok ? answer.json() : {}; }).then(function (said) {
        if (shown.receiving) return;
        far(shown, said.through, said.of);
        shown.words.textContent = (said.doing ? said.doing + (said.of ? ", " + said.through + " of " + said.of : "") : "The portal makes the copy") + " · " + seconds(began);
      }).catch(function () { /* asked again soon; the copy itself says when something is wrong */ });
    }, ASK_MS);
  }

  // While it comes.
  function receive(answer, shown) {
    var reader = answer.body.getReader(), of = Number(answer.headers.get("Content-Length")) || 0, parts = [], come = 0;
    shown.receiving = true;
    function more(part) {
      if (part.done) return new Blob(parts, { type: answer.headers.get("Content-Type") || "" });
      parts.push(part.value);
      come += part.value.length;
      far(shown, come, of);
      shown.words.textContent = size(come) + (of ? " of " + size(of) : "") + " received";
      return reader.read().then(more);
    }
    return reader.read().then(more);
  }

  function named(answer) {
    var said = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") || "");
    return said ? said[1] : "copy";
  }

  function save(blob, name) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 60000);
  }

  function over(shown, words) {
    shown.bar.remove();
    shown.words.textContent = words;
    setTimeout(function () { shown.whole.remove(); }, STAYS_MS);
  }

  function copy(link) {
    var name = Date.now().toString(36) + "-" + Math.random().toString(36).slice(2, 12), shown = panel(), began = Date.now();
    var asking = ask(shown, name, began), from = link.href, to = new URL(from);
    to.searchParams.set("progress", name);
    making.add(from);
    shown.words.textContent = "The portal makes the copy";
    fetch(to).then(function (answer) {
      clearInterval(asking);
      if (!answer.ok || answer.redirected) throw answer;
      return receive(answer, shown).then(function (blob) {
        save(blob, named(answer));
        over(shown, named(answer) + ", " + size(blob.size) + ", after " + seconds(began) + ".");
      });
    }).catch(function (wrong) {
      clearInterval(asking);
      over(shown, "No copy was made" + (wrong && wrong.status ? ": the portal answered " + wrong.status : ": the portal was not reached") + ".");
      if (wrong && wrong.status) window.location.assign(from); // its own words say why
    }).then(function () { making.delete(from); });
  }

  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[data-takes-time]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || !window.ReadableStream) return;
    event.preventDefault();
    if (!making.has(link.href)) copy(link);
  });
})();
