import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { isLocalHost } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';
import type { ReferenceDemo } from './openapi.ts';

/**
 * The browser script of @scalar/api-reference, compressed. That package is 50 MB; `npm run docs:reference`
 * copies the script.
 */
const SCRIPT = new URL('../browser/api-reference.js.gz', import.meta.url);

/** The layout of the page. The page sends no requests to other servers. */
const SETTINGS = {
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // On a phone, the table of codes does not break words. The link to the vendor is hidden, because it leads
  // to another site.
  customCss:
    '.markdown table { table-layout: auto !important } a[href*="scalar.com"] { display: none }' +
    '.markdown th, .markdown td { word-break: normal !important; padding: 6px !important }',
};

/** The policy that the browser enforces on the page. Only styles are inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const fileText = (name: string) => readFileSync(new URL(`../browser/${name}`, import.meta.url), 'utf8');

function pageText(demo: ReferenceDemo | undefined) {
  const authentication = demo && {
    preferredSecurityScheme: 'secretKey',
    securitySchemes: { secretKey: { value: demo.secretKey } },
  };
  const settings = JSON.stringify({ ...SETTINGS, authentication });
  // Escaped for an HTML attribute.
  const escaped = settings.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return fileText('reference.html').replace('{{settings}}', () => escaped);
}

/**
 * Serves the page at /docs and its script, and redirects / to it. The key of the demo is shown to this
 * machine only.
 */
export function addReferencePage(app: FastifyInstance, demo: ReferenceDemo | undefined) {
  const hidden = { schema: { hide: true } };
  const page = pageText(undefined);
  const pageWithDemo = pageText(demo);
  const icon = fileText('favicon.svg');
  app.get('/', hidden, (_request, reply) => void reply.redirect('docs', 302));
  app.get('/docs', hidden, ({ headers }, reply) => {
    void reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY);
    reply.send(isLocalHost(headers.host) ? pageWithDemo : page);
  });
  app.get('/favicon.ico', hidden, (_request, reply) => {
    void reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400');
    reply.send(icon);
  });
  const etag = `"${createHash('sha256').update(readFileSync(SCRIPT)).digest('base64url')}"`;
  app.get('/docs/reference.js', hidden, ({ headers }, reply) => {
    void reply.headers({ 'cache-control': 'public, max-age=86400', etag });
    if (headers['if-none-match'] === etag) return reply.code(304).send();
    void reply.type('text/javascript; charset=utf-8').header('content-encoding', 'gzip');
    // Streamed from disk: in memory, the script would be larger than all other code.
    return reply.send(createReadStream(SCRIPT));
  });
}
