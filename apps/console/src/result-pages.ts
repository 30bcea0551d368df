import type { Database } from '@floodgate/database';
import type { Operation, OperatorPrincipal } from '@floodgate/operators';
import type { TObject } from '@sinclair/typebox';
import { encodeQR } from 'qr';
import { html } from 'ghtml';
import { callerOf, type Operations } from './operations.ts';
import { importedHtml } from './pages/imported-guests.ts';
import { cellsOf, fields, type Cells } from './view.ts';
import type { Viewer } from './view/viewer.ts';
import { webhookCells } from './webhook-pages.ts';

/** The text that says so. */
const SHOWN_ONCE = 'keepSecret';

/** Runs an operation, and resolves to its result as HTML. */
type ResultPage = (
  db: Database,
  given: object,
  operator: OperatorPrincipal,
  viewer: Viewer,
) => Promise<string>;

function page<Input extends TObject, Result>(
  { id, run }: Operation<Input, Result>,
  note: '' | typeof SHOWN_ONCE,
  show: (result: Result, viewer: Viewer) => string,
): [id: string, ResultPage] {
  return [
    id,
    async (db, given, operator, viewer) => {
      const result = await run(db, given, callerOf(operator));
      return html`<p role="status">${viewer.words.forms.done}. ${note && viewer.words.forms[note]}</p>
        !${show(result, viewer)}`;
    },
  ];
}

/**
 * Returns the pages after forms that show the result, by the id of the operation: each that gives a secret,
 * and what was read. No other page has them.
 */
export function resultPages(operations: Operations): ReadonlyMap<string, ResultPage> {
  const all = Object.values<Operation>(operations);
  return new Map([
    ...all.filter(({ secret }) => secret !== undefined).map((one) => page(one, SHOWN_ONCE, everyField)),
    // In place of those with every field.
    page(operations.webhookCreate, SHOWN_ONCE, (webhook) => fields(webhookCells(webhook))),
    page(operations.webhookRotate, SHOWN_ONCE, (webhook) => fields(webhookCells(webhook))),
    page(operations.deviceCreate, SHOWN_ONCE, codeHtml),
    page(operations.deviceCode, SHOWN_ONCE, codeHtml),
    page(operations.guestImport, '', importedHtml),
    page(operations.passVerify, '', (check) =>
      fields(cellsOf(check, 'valid', 'pass', 'mode', 'validFrom', 'validUntil', 'problem')),
    ),
    page(operations.attendeeFind, '', (found) =>
      fields(
        cellsOf(
          found,
          'attendees',
          'total',
          'moreThanTotal',
          'cursor',
          'previous',
          'incomplete',
          'shardsAway',
        ),
      ),
    ),
    page(operations.registrationSearch, '', (found) =>
      fields(cellsOf(found, 'registrations', 'cursor', 'more')),
    ),
    page(operations.jobCancelPreview, '', (preview) =>
      fields(cellsOf(preview, 'eventName', 'count', 'upTo', 'follows', 'first')),
    ),
    page(operations.jobResendPreview, '', (preview) =>
      fields(cellsOf(preview, 'eventName', 'count', 'upTo', 'follows', 'first')),
    ),
    page(operations.registrationCount, '', (counted) => fields(cellsOf(counted, 'count'))),
  ]);
}

const everyField = (result: unknown) => fields({ ...Object(result) } as Cells);

/** Returns the code of a device as HTML: large, and as a QR code for its camera. */
function codeHtml({ code, name, codeExpiresAt }: { code: string; name: string; codeExpiresAt: Date | null }) {
  const picture = `data:image/svg+xml,${encodeURIComponent(encodeQR(code, 'svg', { border: 4 }))}`;
  return html`<p>Open /door/ of the API on the device, and scan or type the code.</p>
    <p class="code">${code}</p>
    <p><img class="qr" src="${picture}" alt="QR code of the code above" /></p>
    !${fields({ device: name, codeExpiresAt })}`;
}
