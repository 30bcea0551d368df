import { fileURLToPath } from 'node:url';
import staticFiles from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** The folder of the scripts for browsers, which the package does not export. */
const root = fileURLToPath(new URL('browser/', import.meta.resolve('@scalar/api-reference')));

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

/** What the browser itself holds the page to. It writes its own styles, and nothing else is inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Paths without a leading slash: a proxy may put all of it below a path of its own.
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Floodgate API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript; the document that it shows is <a href="api/v1/openapi.json">here</a>.</noscript>
<script id="api-reference" type="application/json" data-url="api/v1/openapi.json"
  data-configuration='${JSON.stringify(SETTINGS)}'></script>
<script src="docs/reference.js"></script>
</body>
</html>
`;

/** Serves the page at /docs, from files of our own, and leads there from /. */
export async function referencePage(app: FastifyInstance): Promise<void> {
  const hidden = { schema: { hide: true } };
  await app.register(staticFiles, { serve: false, root, maxAge: '1d' });
  app.get('/', hidden, (_request, reply) => void reply.redirect('docs', 302));
  app.get('/docs', hidden, (_request, reply) => {
    void reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY);
    reply.send(PAGE);
  });
  // Streamed from the disk: it is as large as all other code together.
  app.get('/docs/reference.js', hidden, (_request, reply) => void reply.sendFile('standalone.js'));
}
