// Shows the latest snapshot of a launch or of doors.
const live = document.querySelector('#live');

/**
 * Replaces only what has changed: a screen reader announces an alert once, and a table keeps the focus and
 * its place.
 */
function show(html) {
  const { content } = Object.assign(document.createElement('template'), { innerHTML: html });
  const parts = [...content.children];
  if (parts.length !== live.children.length) return live.replaceChildren(...parts);
  for (const [index, part] of parts.entries()) {
    const shown = live.children[index];
    if (shown.isEqualNode(part)) continue;
    if (shown.cloneNode().isEqualNode(part.cloneNode())) shown.replaceChildren(...part.childNodes);
    else shown.replaceWith(part);
  }
}

if (live) {
  const source = new EventSource(live.dataset.source);
  source.addEventListener('message', ({ data }) => show(data));
  source.addEventListener('error', () => {
    // The browser connects again by itself, but not after an answer that is no stream: the session has ended.
    if (source.readyState === EventSource.CLOSED) location.reload();
    if (!live.querySelector('.old'))
      live.insertAdjacentHTML(
        'afterbegin',
        '<p class="old" role="alert">The console does not answer. These figures are old.</p>',
      );
  });
}

// Who has chosen no time zone is offered that of the browser.
const zone = document.querySelector('[data-propose-zone]');
if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
