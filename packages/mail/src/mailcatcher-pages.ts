import type { ServerResponse } from 'node:http';
import type { Page } from '@floodgate/service';
import { html } from 'ghtml';
import type { CaughtMail, Mailcatcher } from './mailcatcher.ts';
import { htmlWithPicture } from './preview.ts';

// No scripts, nothing from other origins. An e-mail is shown in a sandboxed frame.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'self'";
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox";

const PATH = /^\/mailcatcher(?:\/([1-9]\d{0,14})(?:\/(mail\.html|mail\.eml))?)?\/?$/;

/** Shows caught e-mails at /mailcatcher. */
export function mailcatcherPages(mailcatcher: Mailcatcher): Page {
  return (request, response, path) => {
    const [matched, id, file] = PATH.exec(path) ?? [];
    if (!matched || request.method !== 'GET') return false;
    if (id === undefined) send(response, 'text/html', POLICY, listPage(mailcatcher.list()));
    else sendMail(response, mailcatcher.find(Number(id)), file);
    return true;
  };
}

function sendMail(response: ServerResponse, mail: CaughtMail | undefined, file: string | undefined): void {
  if (!mail) response.writeHead(404).end();
  else if (file === 'mail.eml') send(response, 'message/rfc822', MAIL_POLICY, mail.content);
  else if (file === 'mail.html') send(response, 'text/html', MAIL_POLICY, htmlWithPicture(mail));
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

const timeOf = ({ at }: CaughtMail) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function listPage(mails: readonly CaughtMail[]): string {
  const rows = mails.map(
    (mail) =>
      html`<li>
        <a href="/mailcatcher/${mail.id}">${mail.subject}</a><br />
        <span class="quiet">to ${mail.to}, ${timeOf(mail)}</span>
      </li>`,
  );
  const none = html`<p>No e-mails yet. Register somebody, and reload this page.</p>`;
  return page(
    'Mailcatcher',
    html`<h1>Mailcatcher</h1>
      <p class="quiet">E-mails that would have been sent. They stay in memory until the process ends.</p>
      !${rows.length === 0 ? none : `<ul>${rows.join('')}</ul>`}`,
  );
}

function mailPage(mail: CaughtMail): string {
  return page(
    mail.subject,
    html`<p><a href="/mailcatcher">Mailcatcher</a></p>
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
        <a href="/mailcatcher/${mail.id}/mail.html">The e-mail alone</a> ·
        <a href="/mailcatcher/${mail.id}/mail.eml" download>As a file</a>
      </p>
      <iframe src="/mailcatcher/${mail.id}/mail.html" title="The e-mail" sandbox></iframe>
      <h2>As text</h2>
      <pre>${mail.text}</pre>`,
  );
}
