import type { MailStatus } from '@floodgate/mail/console';
import { mayUse } from '@floodgate/operators';
import type { FastifyInstance } from 'fastify';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext, Operations } from './operations.ts';
import { actions, alertHtml, awayHtml, cellsOf, eventLink, fields, table, type Cells } from './view.ts';

/** Adds the pages of what failed, and of the processes. */
export function addProcessPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/failures', ['queue:read'], showFailures);
  adder(app, context, false)('/processes', ['queue:read'], showProcesses);
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

const showFailures: Show = async ({ operator, operations, read, action }) => {
  const [batches, mail] = await Promise.all([
    read(operations.batchFailed, {}),
    read(operations.mailStatus, {}),
  ]);
  const reasons = mail?.events.flatMap(({ eventId, reasons: counts }) =>
    Object.entries(counts).map(([reason, count]) => {
      return { reason, event: eventLink(eventId), 'e-mails': count };
    }),
  );
  return [
    'Failures',
    awayHtml(batches?.away),
    table('Failed batches', batches?.failed, (batch) => ({
      reason: batch.reason,
      batch: batch.batchId,
      events: batch.eventIds,
      registrations: batch.registrations,
      failedAt: batch.failedAt,
      actions: action(operations.batchRedrive, { batchIds: batch.batchId }, 'Redrive'),
    })),
    batches?.failed.length && mayUse(operator, 'queue:write')
      ? actions(action(operations.batchRedrive, {}, 'Redrive all'))
      : '',
    table('E-mails that were not delivered', reasons, (row) => row),
  ];
};

const showProcesses: Show = async ({ operations, read }) => {
  const [running = [], backlog] = await Promise.all([
    read(operations.processList, {}),
    read(operations.backlogShow, {}),
  ]);
  const services = new Set(running.map(({ service }) => service));
  const missing = ['api', 'worker', 'delivery'].filter((name) => !services.has(name));
  return [
    'Processes',
    alertHtml(missing.length > 0 ? `No process reports as: ${missing.join(', ')}` : ''),
    table('Running processes', running, (process) =>
      cellsOf(process, 'service', 'version', 'host', 'startedAt', 'seenAt', 'facts'),
    ),
    `<h2>Waiting for finalization</h2>${fields(backlog ? backlogCells(backlog) : {})}`,
  ];
};

/** The figures of the outbox, and the shards that do not answer. */
export function backlogCells(backlog: Omit<Backlog, 'deliveries'>): Cells {
  return {
    ...cellsOf(backlog, 'pendingBatches', 'pendingChanges', 'failedBatches', 'oldestPendingMs'),
    ...(backlog.shardsAway && cellsOf(backlog, 'shardsAway')),
  };
}
