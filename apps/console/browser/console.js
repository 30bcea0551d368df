// Shows the latest snapshot of a launch or of doors.
const live = document.querySelector('#live');

/** Returns whether two elements differ only in their content, or in what a person has opened. */
function isSame(shown, part) {
  if (shown.nodeType !== Node.ELEMENT_NODE || part.nodeType !== Node.ELEMENT_NODE) return false;
  if (shown.matches('details') && part.matches('details')) part.open = shown.open;
  return shown.cloneNode().isEqualNode(part.cloneNode());
}

/**
 * Replaces only what has changed: a screen reader announces an alert once, a table keeps the focus and its
 * place, and what a person has opened stays open.
 */
function renew(shown, parts) {
  const before = [...shown.childNodes];
  if (before.length !== parts.length) return shown.replaceChildren(...parts);
  for (const [index, part] of parts.entries()) {
    const old = before[index];
    if (isSame(old, part)) renew(old, [...part.childNodes]);
    else if (!old.isEqualNode(part)) old.replaceWith(part);
  }
}

function show(html) {
  const { content } = Object.assign(document.createElement('template'), { innerHTML: html });
  renew(live, [...content.childNodes]);
}

if (live) {
  const source = new EventSource(live.dataset.source);
  source.addEventListener('message', ({ data }) => show(data));
  source.addEventListener('error', () => {
    // The browser connects again by itself, but not after an answer that is no stream: the session has ended.
    if (source.readyState === EventSource.CLOSED) location.reload();
    if (live.querySelector('.old')) return;
    const text = live.dataset.old || 'The console does not answer. These figures are old.';
    const alert = Object.assign(document.createElement('p'), { className: 'old alert', textContent: text });
    alert.setAttribute('role', 'alert');
    live.prepend(alert);
  });
}
