import { Option, type Command } from '@commander-js/extra-typings';
import { answeringChange, answeringFromDatabase, record, tableOf, type Cli } from '@floodgate/command';
import { parseId, parseText } from '@floodgate/command/arguments';
import { Failure } from '@floodgate/service/failure';
import type { MailStatus } from './status.ts';

/** `floodgate mail …` */
export function addMailCommands(program: Command, cli: Cli): void {
  const mail = program.command('mail').description('e-mails to attendees');
  const enable = mail
    .command('enable')
    .description('send an e-mail with the pass to everybody who is or will be confirmed')
    .argument('<eventId>', 'the event', parseId)
    .option('--from-now', 'only to registrations that are confirmed from now on');
  answeringChange(enable, cli, async (db, actor, { fromNow = false }, eventId) => {
    const { perform, enableMailAction } = await import('./actions.ts');
    const document = await perform(db, enableMailAction, { eventId, fromNow }, actor);
    return { document, text: `e-mails of event ${eventId} are ${document.state}` };
  });
  addChange(mail, cli, 'disable', 'stop sending; enabling again sends nothing twice');
  addChange(mail, cli, 'pause', 'stop sending until resume');
  addChange(mail, cli, 'resume', 'continue after pause');
  const status = mail
    .command('status')
    .description('progress of e-mails')
    .argument('[eventId]', 'only of this event', parseId);
  answeringFromDatabase(status, cli, async (db, _options, eventId) => {
    const { readMailStatus } = await import('./status.ts');
    const { events, away } = await readMailStatus(db, eventId);
    const text = eventId !== undefined && events[0] ? statusText(events[0]) : tableOf(events.map(fieldsOf));
    const { awayText } = await import('@floodgate/database/reads/shards');
    const isPartial = away.length > 0 && { failure: awayText(away) };
    return { document: events, text, ...isPartial };
  });
  addSuppressions(mail, cli);
  addPreview(mail, cli);
}

function addChange(mail: Command, cli: Cli, name: 'disable' | 'pause' | 'resume', description: string) {
  const command = mail.command(name).description(description).argument('<eventId>', 'the event', parseId);
  answeringChange(command, cli, async (db, actor, _options, eventId) => {
    const actions = await import('./actions.ts');
    const action = {
      disable: actions.disableMailAction,
      pause: actions.pauseMailAction,
      resume: actions.resumeMailAction,
    }[name];
    const document = await actions.perform(db, action, { eventId }, actor);
    return { document, text: `e-mails of event ${eventId} are ${document.state}` };
  });
}

function addSuppressions(mail: Command, cli: Cli) {
  const suppressions = mail
    .command('suppressions')
    .description('addresses that an SMTP server refused for good; they get no e-mails');
  const list = suppressions.command('list').description('list their digests, newest first');
  answeringFromDatabase(list, cli, async (db) => {
    const { listSuppressions } = await import('./suppressions.ts');
    const all = await listSuppressions(db);
    return { document: all, text: tableOf(all.map(({ eventId, ...one }) => ({ ...one, event: eventId }))) };
  });
  const remove = suppressions
    .command('remove')
    .description('send e-mails to an address again')
    .argument('<address>', 'the address, or its digest', parseText);
  answeringChange(remove, cli, async (db, actor, _options, address) => {
    const { perform, liftSuppressionAction } = await import('./actions.ts');
    const { digestOf } = await import('./suppressions.ts');
    const digest = address.includes('@') ? digestOf(address) : address;
    const document = await perform(db, liftSuppressionAction, { digest }, actor);
    return { document, text: 'this address gets e-mails again' };
  });
}

function addPreview(mail: Command, cli: Cli) {
  const preview = mail
    .command('preview')
    .description('write the confirmation of an event with made-up data, as HTML, text and EML')
    .argument('<eventId>', 'the event', parseId)
    .addOption(new Option('--language <language>', "instead of the event's").choices(['en', 'de'] as const))
    .option('--notice', 'write the e-mail to a partner whose webhook was disabled')
    .option('--from <sender>', 'the sender; default: MAIL_FROM', parseText)
    .option('--out <directory>', 'the directory', parseText, '.');
  answeringFromDatabase(preview, cli, async (db, { language, notice, from, out }, eventId) => {
    const { writePreview, writeNoticePreview } = await import('./preview.ts');
    const { findMailEvent } = await import('./mail-event.ts');
    const event = await findMailEvent(db, eventId);
    if (!event) throw new Failure('no such event');
    const sender = from ?? cli.env['MAIL_FROM'];
    const write = notice ? writeNoticePreview : writePreview;
    const files = await write({ ...event, ...(language && { language }) }, sender, out);
    return { document: { files }, text: files.join('\n') };
  });
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

function statusText(status: MailStatus): string {
  const reasons = Object.entries(status.reasons).map(([reason, count]) => `${reason} (${count})`);
  return record({ ...fieldsOf(status), reasons: reasons.join(', ') || null });
}
