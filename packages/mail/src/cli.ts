import { Option, type Command } from '@commander-js/extra-typings';
import { performing } from '@floodgate/audit/performing';
import { answering, record, tableOf, type Cli } from '@floodgate/command';
import { parseId, parseText } from '@floodgate/command/arguments';
import { awayText } from '@floodgate/database/reads/shards';
import { reading } from '@floodgate/operators/reading';
import type { Preview } from './preview.ts';
import type { MailStatus } from './status.ts';

const loadActions = () => import('./actions.ts');
const loadOperations = async () => (await import('./console.ts')).mailOperations();
type Performs = ReturnType<typeof performing<Awaited<ReturnType<typeof loadActions>>>>;

/** The commands that enable, disable, pause and resume e-mails, with their actions. */
const CHANGES = [
  ['enable', 'send an e-mail with the pass for each confirmed registration', 'enableMailAction'],
  ['disable', 'stop sending; enabling again sends nothing twice', 'disableMailAction'],
  ['pause', 'stop sending until resume', 'pauseMailAction'],
  ['resume', 'send again after a pause', 'resumeMailAction'],
] as const;

/** `floodgate mail …` */
export function addMailCommands(program: Command, cli: Cli): void {
  const mail = program.command('mail').description('e-mails to attendees');
  const performs = performing(mail, cli, loadActions);
  for (const [name, description, action] of CHANGES) {
    const change = performs(name, action, (done) => `e-mails of event ${done.eventId} are ${done.state}`)
      .description(description)
      .argument('<eventId>', 'the event', parseId);
    if (name === 'enable') change.option('--from-now', 'only for registrations that are confirmed later');
  }
  reading(mail, cli, loadOperations)('status', 'mailStatus', statusOf)
    .description('show the progress of e-mails')
    .argument('[eventId]', 'only this event', parseId);
  const suppressions = mail
    .command('suppressions')
    .description('addresses that an SMTP server refused permanently; they get no e-mails');
  reading(suppressions, cli, loadOperations)('list', 'suppressionList', tableOf).description(
    'list their digests, newest first',
  );
  const lifts = performing(suppressions, cli, loadActions);
  lifts('remove', 'liftSuppressionAction', () => 'this address gets e-mails again')
    .description('send e-mails to an address again')
    .argument('<address>', 'the address, or its digest', parseText);
  addResending(performs);
  addTest(mail, cli);
  addPreview(mail, cli);
}

function addResending(performs: Performs) {
  performs('resend', 'resendMailAction', ({ passReference }) => `queued: ${passReference}`)
    .description('send the pass of a confirmed registration again')
    .argument('<passReference>', 'its pass reference', parseText);
  performs('resend-all', 'resendAllMailAction', ({ queued }) => `${queued} e-mails are queued`)
    .description('send all passes of an event again')
    .argument('<eventId>', 'the event', parseId);
}

function addTest(mail: Command, cli: Cli) {
  const test = mail
    .command('test')
    .description('send a test e-mail with SMTP_URL and MAIL_FROM, and print why the server refuses it')
    .requiredOption('--to <address>', 'the recipient', parseText);
  answering(test, cli, async ({ to }) => {
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
  const load = async () => (await import('./console.ts')).mailOperations(cli.env);
  reading(mail, cli, load)('preview', 'mailPreview', async (preview: Preview, _input, { options }) => {
    const { writePreview } = await import('./preview.ts');
    const files = await writePreview(preview, options['out'] as string);
    return { document: { files }, text: files.join('\n') };
  })
    .description('write the confirmation of an event with made-up data, as HTML, text and EML')
    .argument('<eventId>', 'the event', parseId)
    .addOption(new Option('--language <language>', "default: the event's").choices(['en', 'de'] as const))
    .option('--notice', 'write the e-mail to a partner whose webhook was disabled')
    .option('--offer', 'write the e-mail to a contact of a waiting list who gets an offer')
    .option('--from <sender>', 'the sender; default: MAIL_FROM', parseText)
    .option('--out <directory>', 'the directory', parseText, '.');
}

/** One row of the table. */
function fieldsOf({
  eventId,
  reasons: _reasons,
  oldestMs,
  oldestRetryMs,
  possiblySentTwice,
  ...rest
}: MailStatus) {
  const age = (ms: number | null) => (ms === null ? null : `${Math.round(ms / 1_000)} s`);
  return {
    event: eventId,
    'oldest untried': age(oldestMs),
    'oldest in retry': age(oldestRetryMs),
    ...rest,
    'possibly twice': possiblySentTwice,
  };
}

function statusOf(
  { events, away }: { events: MailStatus[]; away: number[] },
  { eventId }: { eventId?: unknown },
) {
  const text = eventId && events[0] ? statusText(events[0]) : tableOf(events.map(fieldsOf));
  return { document: events, text, ...(away.length > 0 && { failure: awayText(away) }) };
}

function statusText(status: MailStatus): string {
  const reasons = Object.entries(status.reasons).map(([reason, count]) => `${reason} (${count})`);
  return record({ ...fieldsOf(status), reasons: reasons.join(', ') || null });
}
