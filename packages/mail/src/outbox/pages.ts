import type { ServerResponse } from 'node:http';
import type { Page } from '@floodgate/service';
import { html } from 'ghtml';
import { readParts } from '../compose/read-parts.ts';
import type { KeptMail, Outbox } from './outbox.ts';

// Nothing runs and nothing is loaded from elsewhere. An e-mail is shown in a frame of its own, which may do nothing at all.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'self'";
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox";

const PATH = /^\/outbox(?:\/([1-9]\d{0,14})(?:\/(mail\.html|mail\.eml))?)?\/?$/;

/** Shows what an outbox keeps, at /outbox. */
export function outboxPage(outbox: Outbox): Page {
  return (request, response, path) => {
    const [isOurs, id, file] = PATH.exec(path) ?? [];
    if (!isOurs || request.method !== 'GET') return false;
    if (id === undefined) send(response, 'text/html', POLICY, listPage(outbox.list()));
    else sendMail(response, outbox.find(Number(id)), file);
    return true;
  };
}

function sendMail(response: ServerResponse, mail: KeptMail | undefined, file: string | undefined): void {
  if (!mail) response.writeHead(404).end();
  else if (file === 'mail.eml') send(response, 'message/rfc822', MAIL_POLICY, mail.content);
  else if (file === 'mail.html') send(response, 'text/html', MAIL_POLICY, readParts(mail.content).html);
  else send(response, 'text/html', POLICY, mailPage(mail));
}

function send(response: ServerResponse, type: string, policy: string, content: string | Buffer): void {
  response.writeHead(200, {
    'content-type': type === 'text/html' ? 'text/html; charset=utf-8' : type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(content);
}

const STYLE = `
  :root { color-scheme: light dark; --line: light-dark(#d9dee5, #3a424e); --quiet: light-dark(#5b6573, #a9b2bf); }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 50rem; padding: 1.5rem 1rem; }
  h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
  a { color: light-dark(#0b57d0, #8ab4f8); }
  .quiet { color: var(--quiet); font-size: .9rem; }
  ul { list-style: none; padding: 0; }
  li { border-top: 1px solid var(--line); padding: .6rem 0; overflow-wrap: anywhere; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
  dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
  iframe { border: 1px solid var(--line); border-radius: .5rem; height: 52rem; width: 100%; box-sizing: border-box; }
  @media (max-width: 480px) { iframe { height: 62rem; } }
  pre { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }`;

const page = (title: string, content: string) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          !${STYLE}
        </style>
      </head>
      <body>
        !${content}
      </body>
    </html> `;

const timeOf = ({ at }: KeptMail) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function listPage(mails: readonly KeptMail[]): string {
  const rows = mails.map(
    (mail) =>
      html`<li>
        <a href="/outbox/${mail.id}">${mail.subject}</a><br />
        <span class="quiet">to ${mail.to}, ${timeOf(mail)}</span>
      </li>`,
  );
  const none = html`<p>No e-mails yet. Register somebody, and reload this page.</p>`;
  return page(
    'Outbox',
    html`<h1>Outbox</h1>
      <p class="quiet">
        E-mails that would have been sent. They stay on this machine, until the process ends.
      </p>
      !${rows.length === 0 ? none : `<ul>${rows.join('')}</ul>`}`,
  );
}

function mailPage(mail: KeptMail): string {
  const { text } = readParts(mail.content);
  return page(
    mail.subject,
    html`<p><a href="/outbox">Outbox</a></p>
      <h1>${mail.subject}</h1>
      <dl>
        <dt>From</dt>
        <dd>${mail.from}</dd>
        <dt>To</dt>
        <dd>${mail.to}</dd>
        <dt>Made</dt>
        <dd>${timeOf(mail)}</dd>
      </dl>
      <p>
        <a href="/outbox/${mail.id}/mail.html">The e-mail alone</a> ·
        <a href="/outbox/${mail.id}/mail.eml" download>As a file</a>
      </p>
      <iframe src="/outbox/${mail.id}/mail.html" title="The e-mail" sandbox></iframe>
      <h2>As text</h2>
      <pre>${text}</pre>`,
  );
}
