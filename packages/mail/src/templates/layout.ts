import { html } from 'ghtml';

/** Parts of an e-mail. The body is HTML, the rest text. */
export interface Layout {
  language: string;
  title: string;
  /** Shown next to the subject in lists of e-mails. */
  preview: string;
  body: string;
  /** Why the recipient gets it. */
  why: string;
}

// Colours are inline, for readers that drop style sheets. Dark mode is in the sheet. The QR code is black on white in both, as
// scanners expect.
const STYLE = `
  :root { color-scheme: light dark; supported-color-schemes: light dark; }
  @media (prefers-color-scheme: dark) {
    .page { background: #14171c !important; }
    .card { background: #1f242c !important; }
    .text { color: #eef1f5 !important; }
    .quiet { color: #a9b2bf !important; }
    .line { border-color: #39414d !important; }
  }
  @media (max-width: 480px) {
    .card { padding: 24px 18px !important; }
    .label, .fact { display: block !important; width: auto !important; padding-right: 0 !important; }
    .label { padding-bottom: 0 !important; border-bottom: 0 !important; }
    .fact { padding-top: 2px !important; }
  }`;

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Returns an e-mail as HTML: one page that loads nothing. */
export function layout({ language, title, preview, body, why }: Layout): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>${title}</title>
        <style>
          !${STYLE}
        </style>
      </head>
      <body class="page" style="margin:0;padding:0;background:#f1f3f6;!${FONT}">
        <div style="display:none;max-height:0;overflow:hidden">${preview}</div>
        <table
          role="presentation"
          class="page"
          width="100%"
          cellpadding="0"
          cellspacing="0"
          style="background:#f1f3f6"
        >
          <tr>
            <td align="center" style="padding:24px 12px">
              <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px">
                <tr>
                  <td class="card" style="background:#ffffff;border-radius:12px;padding:32px">!${body}</td>
                </tr>
                <tr>
                  <td
                    class="quiet"
                    style="padding:16px 12px;color:#5b6573;font-size:12px;line-height:1.5;text-align:center"
                  >
                    ${why}
                  </td>
                </tr>
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html> `;
}

/** Style of a paragraph. */
export const TEXT = 'color:#1b2430;font-size:16px;line-height:1.5;overflow-wrap:anywhere';

export const heading = (text: string): string =>
  html`<h1
    class="text"
    style="margin:0 0 16px;color:#1b2430;font-size:24px;line-height:1.25;overflow-wrap:anywhere"
  >
    ${text}
  </h1>`;

/** A label and a value; facts without a value are left out. */
export type Fact = readonly [string, string | null];

/** Returns an e-mail as text. */
export const textMail = (parts: {
  intro: readonly string[];
  facts: readonly Fact[];
  rest: readonly string[];
  why: string;
}): string => {
  const facts = parts.facts.filter(([, value]) => value).map((fact) => fact.join(': '));
  return [...parts.intro, '', ...facts, '', ...parts.rest, '', '-- ', parts.why, ''].join('\r\n');
};

/** Returns facts as rows of a table. */
export const factTable = (facts: readonly Fact[]): string =>
  html`<table
    role="presentation"
    width="100%"
    cellpadding="0"
    cellspacing="0"
    style="border-collapse:collapse"
  >
    !${facts
      .filter(([, value]) => value)
      .map(factRow)
      .join('')}
  </table>`;

function factRow([label, fact]: Fact): string {
  const line = 'padding:10px 0;border-bottom:1px solid #e3e7ec;vertical-align:top';
  return html`<tr>
    <td class="label quiet line" style="!${line};padding-right:16px;width:34%;color:#5b6573;font-size:14px">
      ${label}
    </td>
    <td class="fact text line" style="!${line};color:#1b2430;font-size:16px;overflow-wrap:anywhere">
      ${fact ?? ''}
    </td>
  </tr>`;
}
