import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineApi, type Routes } from '@floodgate/http';
import manifest from '../package.json' with { type: 'json' };

const BASE = '/door/';
/** By extension. Files of other types are not served. */
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};
const APP = new URL('../browser/', import.meta.url);
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

const digest = (data: string) => hash('sha256', data, 'base64url');

const encodingOf = (name: string) => (name.endsWith('.png') ? 'latin1' : 'utf8');

const read = (name: string, folder: URL | string = APP) =>
  readFileSync(new URL(name, folder), encodingOf(name));

/** Returns the files of the app by their paths. The service worker gets the list of the others, and a hash of them. */
function readFiles() {
  const names = readdirSync(APP).filter((name) => path.extname(name) in TYPES && name !== WORKER);
  const files = new Map(names.sort().map((name) => [BASE + name.replace(/^index\.html$/, ''), read(name)]));
  files.set(BASE, files.get(BASE)!.replace('{{version}}', manifest.version));
  for (const name of DECODER) files.set(`${BASE}qr/${name}`, read(name, import.meta.resolve('qr/decode.js')));
  const version = digest([...files].join('\n'));
  const paths = JSON.stringify([...files.keys()]);
  return files.set(BASE + WORKER, `const VERSION = '${version}';\nconst FILES = ${paths};\n${read(WORKER)}`);
}

function addFile(app: Routes, url: string, content: string) {
  const type = TYPES[path.extname(url) || '.html']!;
  const body = gzipSync(Buffer.from(content, encodingOf(url)), { level: 9 });
  const headers = { ...HEADERS, etag: `"${digest(content)}"`, 'content-encoding': 'gzip' };
  app.get(url, { schema: { hide: true } }, (request, reply) => {
    void reply.headers(headers).type(type);
    if (request.headers['if-none-match'] === headers.etag) return reply.code(304).send();
    return reply.send(body);
  });
}

/**
 * Serves the scanner of the door, a progressive web app, at /door/. All devices get the same files, so they
 * need no key.
 */
export const doorApp = defineApi({
  open: () => ({
    publicRoutes(app) {
      app.get('/door', { schema: { hide: true } }, (_request, reply) => void reply.redirect('door/', 302));
      for (const [url, content] of readFiles()) addFile(app, url, content);
    },
  }),
});
