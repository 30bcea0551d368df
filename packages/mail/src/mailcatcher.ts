import type { ServerResponse } from 'node:http';
import { isLocalHost, type RequestHandler } from '@floodgate/service';
import { html } from 'ghtml';
import type { MailMessage } from './message.ts';
import { htmlWithPicture } from './preview.ts';
import type { Transport } from './smtp.ts';

interface CaughtMail extends MailMessage {
  id: number;
  at: Date;
}

/** Keeps the newest `size` e-mails in memory instead of sending them, and shows them at /mailcatcher. */
export function createMailcatcher(size: number): Transport & { page: RequestHandler } {
  const mails = new Map<number, CaughtMail>();
  let lastId = 0;
  return {
    isOutside: false,
    send(mail) {
      const id = (lastId += 1);
      mails.set(id, { ...mail, id, at: new Date() });
      mails.delete(id - size);
      return Promise.resolve({ kind: 'sent' });
    },
    close: () => {},
    page(request, response, path) {
      const [isOurs, id, file] = PATH.exec(path) ?? [];
      const mail = mails.get(Number(id));
      if (!isOurs || request.method !== 'GET' || (id && !mail)) return false;
      if (!isLocalHost(request.headers.host)) response.writeHead(421).end('Use an address or localhost.\n');
      else if (!mail) send(response, listPage([...mails.values()].toReversed()));
      else if (file === 'mail.eml') send(response, mail.content, 'message/rfc822');
      // Sandboxed, even if it is opened outside the frame.
      else if (file) send(response, htmlWithPicture(mail), HTML, `${POLICY}; sandbox`);
      else send(response, mailPage(mail));
      return true;
    },
  };
}

const PATH = /^\/mailcatcher(?:\/([1-9]\d{0,14})(?:\/(mail\.html|mail\.eml))?)?\/?$/;
// No scripts, nothing from other origins.
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; frame-ancestors 'self'";
const HTML = 'text/html; charset=utf-8';

function send(response: ServerResponse, content: string | Buffer, type = HTML, policy = POLICY): void {
  response.writeHead(200, {
    'content-type': type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(content);
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 50rem; padding: 1.5rem 1rem; }
  body { overflow-wrap: anywhere; }
  li { margin: .6rem 0; }
  iframe { border: 1px solid gray; border-radius: .5rem; height: 60rem; width: 100%; box-sizing: border-box; }
  pre { white-space: pre-wrap; }`;

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

const listPage = (mails: readonly CaughtMail[]) =>
  page(
    'Mailcatcher',
    html`<h1>Mailcatcher</h1>
      <p>E-mails that were caught instead of sent. They stay in memory until the process ends.</p>
      ${mails.length === 0 ? 'No e-mails yet. Register an attendee, and reload this page.' : ''}
      <ul>
        !${mails.map(
          (mail) =>
            html`<li>
              <a href="/mailcatcher/${mail.id}">${mail.subject}</a> to ${mail.to}, ${timeOf(mail)}
            </li>`,
        )}
      </ul>`,
  );

const mailPage = (mail: CaughtMail) =>
  page(
    mail.subject,
    html`<p><a href="/mailcatcher">Mailcatcher</a></p>
      <h1>${mail.subject}</h1>
      <p>From ${mail.from} to ${mail.to}, ${timeOf(mail)}</p>
      <p>
        <a href="/mailcatcher/${mail.id}/mail.html">The e-mail alone</a> ·
        <a href="/mailcatcher/${mail.id}/mail.eml" download>As a file</a>
      </p>
      <iframe src="/mailcatcher/${mail.id}/mail.html" title="The e-mail" sandbox></iframe>
      <h2>As text</h2>
      <pre>${mail.text}</pre>`,
  );
