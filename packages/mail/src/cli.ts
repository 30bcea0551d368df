import { Option, type Command } from '@commander-js/extra-typings';
import { actionCommands, withInput } from '@floodgate/audit/commands';
import { columnsOf, onDatabaseRun, onRun, record, tableOf, timeText, type Cli } from '@floodgate/command';
import { parseId, parseText, parseWhole } from '@floodgate/command/arguments';
import { awayText } from '@floodgate/database/reads/shards';
import { COMMAND_LINE, queryCommands } from '@floodgate/operators/commands';
import type { MailFailurePage } from './failures.ts';
import type { MailStatus } from './status.ts';

const loadActions = () => import('./actions.ts');
const loadOperations = async () => (await import('./console.ts')).mailOperations();

const switchedText = ({ eventId, state }: { eventId: number; state: 'active' | 'paused' | 'off' }) =>
  `e-mails of event ${eventId} are ${state}`;

/** `floodgate mail …` */
export function addMailCommands(program: Command, cli: Cli): void {
  const mail = program.command('mail').description('e-mails to attendees');
  const actionCommand = actionCommands(mail, cli, loadActions);
  actionCommand('enable', (actions) => actions.enableMailAction, switchedText)
    .description('send an e-mail with the pass for each confirmed registration')
    .argument('<eventId>', 'the event', parseId)
    .option('--from-now', 'only for registrations that are confirmed later');
  actionCommand('disable', (actions) => actions.disableMailAction, switchedText)
    .description('stop sending; enabling again sends nothing twice')
    .argument('<eventId>', 'the event', parseId);
  actionCommand('pause', (actions) => actions.pauseMailAction, switchedText)
    .description('stop sending until resume')
    .argument('<eventId>', 'the event', parseId);
  actionCommand('resume', (actions) => actions.resumeMailAction, switchedText)
    .description('send again after a pause')
    .argument('<eventId>', 'the event', parseId);
  queryCommands(mail, cli, loadOperations)('status', (operations) => operations.mailStatus, statusOf)
    .description('show the progress of e-mails')
    .argument('[eventId]', 'only this event', parseId);
  addByPerson(mail, cli);
  const suppressions = mail
    .command('suppressions')
    .description('addresses that an SMTP server refused permanently; they get no e-mails');
  queryCommands(suppressions, cli, loadOperations)(
    'list',
    (operations) => operations.suppressionList,
    (all) => columnsOf(all, ['digest', 'reason', 'eventId', 'at']),
  ).description('list their digests, newest first');
  const lifts = actionCommands(suppressions, cli, loadActions);
  lifts(
    'remove',
    (actions) => actions.liftSuppressionAction,
    () => 'this address gets e-mails again',
  )
    .description('send e-mails to an address again')
    .argument('<address>', 'the address, or its digest', parseText);
  addResending(mail, cli);
  addTest(mail, cli);
  addPreview(mail, cli);
}

/** Adds the commands about persons: those without an e-mail, and the e-mails of one registration. */
function addByPerson(mail: Command, cli: Cli) {
  const queryCommand = queryCommands(mail, cli, loadOperations);
  queryCommand('failures', (operations) => operations.mailFailures, failuresText)
    .description('list who did not get an e-mail, why, and what to do')
    .requiredOption('--event <eventId>', 'the event', parseId)
    .option('--after <cursor>', 'continue from this cursor', parseText)
    .option('--limit <count>', 'at most so many', parseWhole, 100);
  queryCommand(
    'show',
    (operations) => operations.mailShow,
    (mails) => columnsOf(mails, ['kind', 'state', 'queuedAt', 'sentAt', 'attempts', 'possiblyTwice', 'why']),
  )
    .description('show the e-mails about a registration')
    .argument('<passReference>', 'its pass reference', parseText);
}

/** One block per person: the remedy is longer than a column. */
function failuresText({ failures, cursor }: MailFailurePage): string {
  const blocks = failures.map(({ passReference, fullName, emailAddress, ...failure }) =>
    record({
      'pass reference': passReference ?? 'none (waiting list)',
      name: fullName ?? null,
      address: emailAddress ?? null,
      'e-mail': `${failure.kind}, ${failure.state} since ${timeText(failure.since)}`,
      why: failure.reason === null ? null : `${failure.why} (${failure.reason})`,
      remedy: failure.remedy,
      'next attempt': failure.nextAttemptAt,
    }),
  );
  const ending = cursor === null ? [] : [`cursor: ${cursor} (there is more)`];
  return [...(blocks.length > 0 ? blocks : ['no e-mail of this event has failed or waits']), ...ending].join(
    '\n\n',
  );
}

function addResending(mail: Command, cli: Cli) {
  const actionCommand = actionCommands(mail, cli, loadActions);
  actionCommand(
    'resend',
    (actions) => actions.resendMailAction,
    ({ passReference }) => `queued: ${passReference}`,
  )
    .description('send the pass of a confirmed registration again, or another e-mail about a registration')
    .argument('<passReference>', 'its pass reference', parseText)
    .option('--kind <kind>', 'confirmation (default), event-updated or cancellation', parseText);
  actionCommand(
    'resend-all',
    (actions) => actions.resendAllMailAction,
    ({ queued }) => `${queued} e-mails are queued`,
  )
    .description('send all passes of an event again')
    .argument('<eventId>', 'the event', parseId);
}

function addTest(mail: Command, cli: Cli) {
  const test = mail
    .command('test')
    .description('send a test e-mail with SMTP_URL and MAIL_FROM, and print why the server refuses it')
    .requiredOption('--to <address>', 'the recipient', parseText);
  onRun(test, cli, async ({ to }) => {
    const { sendTestMail } = await import('./test-mail.ts');
    const { testMailSettings } = await import('./settings.ts');
    const { loadConfig } = await import('@floodgate/service/load-config');
    const { Type } = await import('@sinclair/typebox');
    const settings = loadConfig(Type.Object(testMailSettings), cli.env);
    const document = await sendTestMail(settings, to);
    return { document, text: 'the SMTP server has accepted the e-mail' };
  });
}

function addPreview(mail: Command, cli: Cli) {
  const preview = mail
    .command('preview')
    .description('write the confirmation of an event with made-up data, as HTML, text and EML')
    .argument('<eventId>', 'the event', parseId)
    .addOption(new Option('--language <language>', "default: the event's").choices(['en', 'de'] as const))
    .option('--notice', 'write the e-mail to a partner whose webhook was disabled')
    .option('--offer', 'write the e-mail to a contact of a waiting list who gets an offer')
    .option('--cancelled', 'write the e-mail to an attendee whose registration was cancelled')
    .option('--updated', 'write the e-mail about a new time or place')
    .option('--from <sender>', 'the sender; default: MAIL_FROM', parseText)
    .option('--out <directory>', 'the directory', parseText, '.');
  onDatabaseRun(preview, cli, async (db) => {
    const { mailPreview } = (await import('./console.ts')).mailOperations(cli.env);
    const { writePreview } = await import('./preview.ts');
    const content = await withInput(preview, mailPreview.input, (given) =>
      mailPreview.run(db, given, COMMAND_LINE),
    );
    const files = await writePreview(content, preview.opts().out);
    return { document: { files }, text: files.join('\n') };
  });
}

const ageText = (ms: number | null) => (ms === null ? null : `${Math.round(ms / 1_000)} s`);

/** One row of the table. */
const fieldsOf = (status: MailStatus) => ({
  event: status.eventId,
  'oldest untried': ageText(status.oldestMs),
  'oldest in retry': ageText(status.oldestRetryMs),
  state: status.state,
  queued: status.queued,
  sent: status.sent,
  retry: status.retry,
  undeliverable: status.undeliverable,
  suppressed: status.suppressed,
  cancelled: status.cancelled,
  'possibly twice': status.possiblySentTwice,
});

function statusOf({ events, away }: { events: MailStatus[]; away: number[] }, given: { eventId?: unknown }) {
  const text =
    given.eventId !== undefined && events[0] ? statusText(events[0]) : tableOf(events.map(fieldsOf));
  return { document: events, text, ...(away.length > 0 && { failure: awayText(away) }) };
}

function statusText(status: MailStatus): string {
  const reasons = Object.entries(status.reasons).map(([reason, count]) => `${reason} (${count})`);
  return record({ ...fieldsOf(status), reasons: reasons.join(', ') || null });
}
