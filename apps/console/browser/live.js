// Shows the latest snapshot of a launch.
const live = document.querySelector('#live');
if (live) {
  const source = new EventSource(live.dataset.source);
  source.addEventListener('message', ({ data }) => {
    live.innerHTML = data;
  });
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
