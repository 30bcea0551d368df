import type { MailStatus } from '@floodgate/mail/console';
import type { FastifyInstance } from 'fastify';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext, Operations } from './operations.ts';
import { actions, awayHtml, cellsOf, eventLink, table } from './view.ts';

/** Adds the page of what is delivered. */
export function addDeliveryPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/deliveries', ['mail:read'], showDeliveries);
}

/** The work that waits for finalization and delivery. */
export type Backlog = Awaited<ReturnType<Operations['backlogShow']>>;

const OF_MAIL = [
  'state',
  'oldestMs',
  'oldestRetryMs',
  'queued',
  'sent',
  'retry',
  'undeliverable',
  'suppressed',
  'cancelled',
  'possiblySentTwice',
] as const;

/** The progress of the e-mails of one event. */
export const mailCells = (status: MailStatus) => cellsOf(status, ...OF_MAIL);

/** Returns the kinds of consumers with their backlogs. */
export const kindsOf = ({ mail, webhook }: Backlog['deliveries']) =>
  Object.entries({ ...(mail && { mail }), ...(webhook && { webhook }) });

const showDeliveries: Show = async ({ operations, read, action }) => {
  const [mail, suppressions, backlog] = await Promise.all([
    read(operations.mailStatus, {}),
    read(operations.suppressionList, {}),
    read(operations.backlogShow, {}),
  ]);
  const lags: Backlog['deliveries'] = backlog?.deliveries ?? {};
  return [
    'Deliveries',
    awayHtml(lags.shardsAway),
    actions(action(operations.mailTest, {})),
    backlog
      ? table('Readers of the journal', kindsOf(lags), ([kind, lag]) => ({
          kind,
          ...cellsOf(lag, 'consumers', 'behind', 'failing', 'disabled', 'oldestMs', 'oldestRetryMs'),
        }))
      : '',
    table('E-mails by event', mail?.events, (status) => ({
      event: eventLink(status.eventId),
      ...mailCells(status),
    })),
    suppressions
      ? table('Addresses that get no e-mails', suppressions, (suppression) => ({
          ...cellsOf(suppression, 'digest', 'reason', 'eventId', 'at'),
          actions: action(operations.mailUnsuppress, { address: suppression.digest }, 'Send again'),
        }))
      : '',
  ];
};
