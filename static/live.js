// A page looks again when it is rung, and now and then by itself. What comes is laid over what is there, node by node: whoever types,
// has something open, or has scrolled, is not disturbed. A look that has seen everything is answered 204 and changes nothing.
(function () {
  "use strict";
  var opened = new WeakMap(); // details -> whether the portal last said it is open; what its reader did since is the reader's

  function remember(root) {
    if (root.nodeType !== Node.ELEMENT_NODE) return;
    [root].concat(Array.from(root.querySelectorAll("details"))).forEach(function (one) {
      if (one.matches("details") && !opened.has(one)) opened.set(one, one.hasAttribute("open"));
    });
  }

  // What htmx is told by an element's attributes it reads once; an element that tells it something else is another element.
  function told(element) {
    return Array.from(element.attributes).filter(function (a) { return a.name.startsWith("hx-") || a.name === "type"; })
      .map(function (a) { return a.name + "=" + a.value; }).sort().join("\n");
  }

  function same(a, b) {
    if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false;
    return a.nodeType !== Node.ELEMENT_NODE || (a.id === b.id && told(a) === told(b));
  }

  // What the reader may have changed is the reader's, also where the portal filled it in with a refusal.
  function readers(element) {
    if (element.matches("details")) return ["open"];
    if (element.matches("option, [type=radio], [type=checkbox]")) return ["checked", "selected"];
    return element.matches("input:not([type=hidden])") ? ["value"] : [];
  }

  function attributes(old, next) {
    var ours = readers(old);
    Array.from(next.attributes).forEach(function (a) {
      if (!ours.includes(a.name) && old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
    });
    Array.from(old.attributes).forEach(function (a) {
      if (!ours.includes(a.name) && !next.hasAttribute(a.name)) old.removeAttribute(a.name);
    });
    if (old.matches("details") && opened.get(old) !== next.hasAttribute("open")) {
      old.open = next.hasAttribute("open");
      opened.set(old, old.open);
    }
  }

  // The node that is to become `next`: the one with its id, else the next of its kind that no other one needs.
  function partner(at, next, ids) {
    if (next.id) return Array.from(at.parent.children).find(function (child) { return child.id === next.id && same(child, next); });
    for (var child = at.child; child; child = child.nextSibling) {
      if (same(child, next)) return child;
      if (child.id && ids.has(child.id)) return null;
    }
    return null;
  }

  function children(old, next) {
    var wanted = Array.from(next.childNodes);
    var ids = new Set(wanted.map(function (one) { return one.id; }).filter(Boolean));
    var at = { parent: old, child: old.firstChild };
    wanted.forEach(function (one) {
      var found = partner(at, one, ids);
      if (!found) {
        old.insertBefore(one, at.child);
        remember(one);
        if (one.nodeType === Node.ELEMENT_NODE) htmx.process(one);
        return;
      }
      if (found === at.child) at.child = found.nextSibling;
      else if (one.id) old.insertBefore(found, at.child); // it has changed its place
      else while (at.child !== found) at.child = drop(at.child);
      if (!one.id && at.child === found) at.child = found.nextSibling;
      morph(found, one);
    });
    while (at.child) at.child = drop(at.child);
  }

  function drop(child) {
    var after = child.nextSibling;
    if (child.nodeType === Node.ELEMENT_NODE) htmx.remove(child); else child.remove();
    return after;
  }

  function morph(old, next) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
      return;
    }
    attributes(old, next);
    children(old, next);
  }

  function lay(target, fragment) {
    var next = Array.from(fragment.children).find(function (one) { return one.id === target.id; });
    if (!next) return window.location.reload(); // not this page any more: signed out, most likely
    var before = target.getBoundingClientRect().height;
    children(target, next);
    // What appears at the head of the page pushes nothing away from under a finger.
    if (target.matches("[data-keep-below]")) window.scrollBy({ top: target.getBoundingClientRect().height - before, behavior: "instant" });
  }

  htmx.defineExtension("live", {
    isInlineSwap: function (style) { return style === "morph"; },
    handleSwap: function (style, target, fragment) {
      if (style !== "morph") return false;
      lay(target, fragment);
      return true;
    },
  });

  document.addEventListener("htmx:configRequest", function (event) {
    var seen = event.detail.verb === "get" && event.detail.elt.querySelector(":scope > .sl-seen");
    if (seen) event.detail.parameters.seen = seen.value;
  });
  var sought = ""; // what the address points at, while the part of the page that holds it is still to come
  document.addEventListener("DOMContentLoaded", function () {
    remember(document.documentElement);
    if (!document.getElementById(location.hash.slice(1))) sought = location.hash;
  });
  document.addEventListener("htmx:afterSettle", function (event) {
    if (event.target.matches) remember(event.target);
    if (sought && document.getElementById(sought.slice(1))) { location.replace(sought); sought = ""; }
  });
})();
