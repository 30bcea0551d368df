import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { ReferenceDemo } from './reference-demo.ts';

/** The browser script of @scalar/api-reference, compressed. That package is 50 MB; `npm run docs:reference` copies the script. */
const SCRIPT = new URL('../browser/api-reference.js.gz', import.meta.url);

/** How the page looks, and that it says nothing to anybody but this server. */
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
  // The table of codes keeps its words whole on a phone; the link to the page's maker leads elsewhere.
  customCss:
    '.markdown table { table-layout: auto !important } a[href*="scalar.com"] { display: none }' +
    '.markdown th, .markdown td { word-break: normal !important; padding: 6px !important }',
};

/** The policy that the browser enforces on the page. The page writes its own styles, and nothing else is inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The same as apps/docs/public/favicon.svg. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3451b2"/>' +
  '<path d="M8 7v18M16 7v18M24 7v18M5 12h22" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>';

// Paths without a leading slash: a proxy may put all of it below a path of its own.
const pageWith = (settings: object) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Floodgate API</title>
<link rel="icon" href="favicon.ico">
</head>
<body>
<noscript>This page needs JavaScript; the document that it shows is <a href="api/v1/openapi.json">here</a>.</noscript>
<script id="api-reference" type="application/json" data-url="api/v1/openapi.json"
  data-configuration='${JSON.stringify(settings)}'></script>
<script src="docs/reference.js"></script>
</body>
</html>
`;

/** The settings that fill in the key of the demo. */
const signedIn = ({ secretKey }: ReferenceDemo) => ({
  authentication: {
    preferredSecurityScheme: 'secretKey',
    securitySchemes: { secretKey: { value: secretKey } },
  },
});

/** Serves the page at /docs and its script, and redirects / to it. */
export function addReferencePage(app: FastifyInstance, demo: ReferenceDemo | undefined): void {
  const hidden = { schema: { hide: true } };
  const page = pageWith({ ...SETTINGS, ...(demo && signedIn(demo)) });
  app.get('/', hidden, (_request, reply) => void reply.redirect('docs', 302));
  app.get('/docs', hidden, (_request, reply) => {
    void reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY);
    reply.send(page);
  });
  app.get('/favicon.ico', hidden, (_request, reply) => {
    void reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400');
    reply.send(ICON);
  });
  const etag = `"${createHash('sha256').update(readFileSync(SCRIPT)).digest('base64url')}"`;
  app.get('/docs/reference.js', hidden, ({ headers }, reply) => {
    void reply.headers({ 'cache-control': 'public, max-age=86400', etag, vary: 'accept-encoding' });
    if (headers['if-none-match'] === etag) return reply.code(304).send();
    void reply.type('text/javascript; charset=utf-8');
    // Streamed from the disk: it would take more memory than all other code.
    const script = createReadStream(SCRIPT);
    if (!headers['accept-encoding']?.includes('gzip')) return reply.send(script.pipe(createGunzip()));
    return reply.header('content-encoding', 'gzip').send(script);
  });
}
