// Shows the latest snapshot of a launch or of doors.
const live = document.querySelector('#live');

/** The space between elements differs in pages and snapshots. */
const nodesIn = (element) =>
  [...element.childNodes].filter((node) => node.nodeType !== Node.TEXT_NODE || node.data.trim());

/**
 * Replaces only what has changed: a screen reader announces an alert once, and a link in a table keeps the
 * focus and its place.
 */
function update(shown, next) {
  // Parts that a person has opened stay open.
  if (next.nodeName === 'DETAILS' && shown.nodeName === 'DETAILS') next.open = shown.open;
  if (shown.isEqualNode(next)) return;
  if (!shown.cloneNode().isEqualNode(next.cloneNode())) {
    shown.replaceWith(next);
    return;
  }
  const [before, after] = [nodesIn(shown), nodesIn(next)];
  for (const [index, node] of after.entries()) {
    if (before[index]) update(before[index], node);
    else shown.append(node);
  }
  for (const node of before.slice(after.length)) node.remove();
}

function show(html) {
  const { content } = Object.assign(document.createElement('template'), { innerHTML: html });
  const next = live.cloneNode();
  next.append(...content.children);
  update(live, next);
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

// Without scripts, the menu of the browser prints.
for (const button of document.querySelectorAll('button.print')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
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
  const again = () => setTimeout(() => void look().catch(again), Number(changing.dataset.refresh));
  again();
}

// An operator without a chosen time zone is offered that of the browser.
const zone = document.querySelector('[data-propose-zone]');
if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
