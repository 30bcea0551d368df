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

// Replaces a part of a page that changes for a while, such as the progress of a job, until it has ended.
const changing = document.querySelector('[data-refresh]');

if (changing) {
  const look = async () => {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    // After a sign-out, the answer is another page.
    if (!answer.ok || answer.redirected) return location.reload();
    const next = new DOMParser()
      .parseFromString(await answer.text(), 'text/html')
      .getElementById(changing.id);
    // The rest of the page says what can be done, which is something else at the end.
    if (!next?.dataset.refresh) return location.reload();
    changing.replaceChildren(...next.childNodes);
    again();
  };
  // Without an answer, the console is asked again.
  const again = () => setTimeout(() => look().catch(again), Number(changing.dataset.refresh));
  again();
}
