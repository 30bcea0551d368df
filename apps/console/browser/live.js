// Shows the latest snapshot of a launch.
const live = document.querySelector('#live');
if (live) {
  const source = new EventSource(live.dataset.source);
  source.addEventListener('message', ({ data }) => {
    live.innerHTML = data;
  });
}
