import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineApi, type Routes } from '@floodgate/http';
import manifest from '../package.json' with { type: 'json' };

const BASE = '/door/';
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  webmanifest: 'application/manifest+json',
};
const MODULES = 'camera chain decide encoding keyboard main scan server show signed storage sync';
const APP = [
  'index.html',
  'door.css',
  'icon.svg',
  'manifest.webmanifest',
  ...MODULES.split(' ').map((name) => `${name}.js`),
];
/** Of the package `qr`. The first imports the second. */
const DECODER = ['decode.js', 'index.js'];
const WORKER = 'service-worker.js';

/** No code or style is inline, and the page sends requests to this server only. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'permissions-policy': 'camera=(self), screen-wake-lock=(self), microphone=(), geolocation=()',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // The service worker keeps the files. The browser asks for a new version with the etag.
  'cache-control': 'no-cache',
};

const digest = (data: string) => createHash('sha256').update(data).digest('base64url');

const read = (url: string) => readFileSync(fileURLToPath(url), 'utf8');

/** Returns the files of the app by their paths. The service worker gets the list of the others, and a hash of them. */
function readFiles(): Map<string, string> {
  const app = (name: string) => read(import.meta.resolve(`../browser/${name}`));
  const files = new Map(APP.map((name) => [BASE + (name === 'index.html' ? '' : name), app(name)]));
  files.set(BASE, files.get(BASE)!.replace('{{version}}', manifest.version));
  for (const name of DECODER) files.set(`${BASE}qr/${name}`, read(decoderUrl(name)));
  const version = digest([...files].join('\n'));
  const paths = JSON.stringify([...files.keys()]);
  return files.set(BASE + WORKER, `const VERSION = '${version}';\nconst FILES = ${paths};\n${app(WORKER)}`);
}

const decoderUrl = (name: string) => new URL(name, import.meta.resolve('qr/decode.js')).href;

function addFile(app: Routes, path: string, content: string): void {
  const type = TYPES[path.endsWith('/') ? 'html' : path.slice(path.lastIndexOf('.') + 1)]!;
  const body = gzipSync(content, { level: 9 });
  const headers = { ...HEADERS, etag: `"${digest(content)}"`, 'content-encoding': 'gzip' };
  app.get(path, { schema: { hide: true } }, (request, reply) => {
    void reply.headers(headers).type(type);
    if (request.headers['if-none-match'] === headers.etag) return reply.code(304).send();
    return reply.send(body);
  });
}

/** Serves the scanner of the door, a progressive web app, at /door/. All devices get the same files, so they need no key. */
export const doorApp = defineApi({
  settings: {},
  open: () => ({
    publicRoutes(app) {
      app.get('/door', { schema: { hide: true } }, (_request, reply) => void reply.redirect('door/', 302));
      for (const [path, content] of readFiles()) addFile(app, path, content);
    },
  }),
});
