import type { Database } from '@floodgate/database';
import type { Operation, OperatorPrincipal } from '@floodgate/operators';
import type { TObject } from '@sinclair/typebox';
import { html } from 'ghtml';
import type { PageRequest } from './add-page.ts';
import { callerOf, type ConsoleContext, type Operations } from './operations.ts';
import { codeHtml } from './pages/enrolment.ts';
import { cellsOf, fields, table, type Cells } from './view.ts';
import { webhookCells } from './webhook-pages.ts';

/** No other page has its secret. */
const SHOWN_ONCE = true;

/** Runs an operation, and resolves to its result as HTML. `form` is the page of its form. */
type ResultPage = (
  db: Database,
  given: object,
  operator: OperatorPrincipal,
  form: PageRequest,
) => Promise<string>;

function page<Input extends TObject, Result>(
  { id, run }: Operation<Input, Result>,
  isSecret: boolean,
  show: (result: Result, form: PageRequest) => string,
): [id: string, ResultPage] {
  return [
    id,
    async (db, given, operator, form) => {
      const result = await run(db, given, callerOf(operator));
      const { forms } = form.words;
      return html`<p role="status">${forms.done}. ${isSecret ? forms.keepSecret : ''}</p>
        !${show(result, form)}`;
    },
  ];
}

/**
 * Returns the pages after forms that show the result, by the id of the operation: each that gives a secret,
 * and what was read. No other page has them.
 */
export function resultPages({ operations, doorUrl }: ConsoleContext): ReadonlyMap<string, ResultPage> {
  const all = Object.values<Operation>(operations);
  return new Map([
    ...all.filter(({ secret }) => secret !== undefined).map((one) => page(one, SHOWN_ONCE, everyField)),
    // In place of those with every field.
    page(operations.webhookCreate, SHOWN_ONCE, (webhook) => fields(webhookCells(webhook))),
    page(operations.webhookRotate, SHOWN_ONCE, (webhook) => fields(webhookCells(webhook))),
    page(operations.deviceCreate, SHOWN_ONCE, (device, form) => codeHtml(form, device, doorUrl)),
    page(operations.deviceCode, SHOWN_ONCE, (device, form) => codeHtml(form, device, doorUrl)),
    page(operations.guestAdd, false, (guest) => fields(cellsOf(guest, 'passReference', 'isNew'))),
    page(operations.guestImport, false, ({ rows, ...summary }) => fields(summary) + rowsHtml(rows)),
    page(operations.passVerify, false, (check) =>
      fields(cellsOf(check, 'valid', 'pass', 'mode', 'validFrom', 'validUntil', 'problem')),
    ),
    page(operations.attendeeFind, false, (found) =>
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
    page(operations.registrationSearch, false, (found) =>
      fields(cellsOf(found, 'registrations', 'cursor', 'more')),
    ),
    page(operations.jobCancelPreview, false, (preview) =>
      fields(cellsOf(preview, 'eventName', 'count', 'upTo', 'follows', 'first')),
    ),
    page(operations.jobResendPreview, false, (preview) =>
      fields(cellsOf(preview, 'eventName', 'count', 'upTo', 'follows', 'first')),
    ),
    page(operations.registrationCount, false, (counted) => fields(cellsOf(counted, 'count'))),
  ]);
}

/** Returns the rows of a guest list that need a look: those with a reason. A dry run shows the others as a number. */
const rowsHtml = (rows: Awaited<ReturnType<Operations['guestImport']>>['rows']) =>
  table(
    'Rows to look at',
    rows.filter(({ reason }) => reason !== null),
    ({ line, outcome, reason }) => ({ line, outcome, reason }),
  );

const everyField = (result: unknown) => fields({ ...Object(result) } as Cells);
