// Serves the files of the app without network. The server writes VERSION, a hash of all files, and FILES
// before this line. A changed file changes this script, so the browser installs it again.

/** @type {any} */
const worker = globalThis;

async function install() {
  const cache = await caches.open(VERSION);
  await cache.addAll(FILES.map((path) => new Request(path, { cache: 'reload' })));
  await worker.skipWaiting();
}

async function activate() {
  const old = (await caches.keys()).filter((name) => name !== VERSION);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

worker.addEventListener('install', (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.method !== 'GET' || !FILES.includes(pathname)) return;
  const answer = async () => (await caches.match(pathname)) ?? fetch(event.request);
  event.respondWith(answer());
});
