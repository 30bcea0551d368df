import { Option, type Command } from '@commander-js/extra-typings';
import { answeringChange, answeringFromDatabase, record, tableOf, type Cli } from '@floodgate/command';
import { parseId, parseText } from '@floodgate/command/arguments';
import { Failure } from '@floodgate/service/failure';
import type { MailStatus } from './mail-status.ts';

/** `floodgate mail …` */
export function addMailCommands(program: Command, cli: Cli): void {
  const mail = program.command('mail').description('e-mails to attendees');
  const enable = mail
    .command('enable')
    .description('send an e-mail with their pass to all who are or will be confirmed')
    .argument('<eventId>', 'the event', parseId)
    .option('--from-now', 'not to those who are confirmed already');
  answeringChange(enable, cli, async (db, actor, { fromNow = false }, eventId) => {
    const { perform, enableMailAction } = await import('./actions.ts');
    const document = await perform(db, enableMailAction, { eventId, fromNow }, actor);
    return { document, text: `e-mails of event ${eventId} are ${document.state}` };
  });
  addChange(
    mail,
    cli,
    'disable',
    'send no more; who has an e-mail gets no second one, should they be enabled again',
  );
  addChange(mail, cli, 'pause', 'let e-mails wait');
  addChange(mail, cli, 'resume', 'go on with e-mails that were paused');
  const status = mail
    .command('status')
    .description('how far e-mails are')
    .argument('[eventId]', 'only of this event', parseId);
  answeringFromDatabase(status, cli, async (db, _options, eventId) => {
    const { readMailStatus } = await import('./mail-status.ts');
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
    .description('addresses that were refused for good and get no more e-mails');
  const list = suppressions.command('list').description('list them by their digests, the newest first');
  answeringFromDatabase(list, cli, async (db) => {
    const { listSuppressions } = await import('./suppressions.ts');
    const all = await listSuppressions(db);
    return { document: all, text: tableOf(all.map(({ eventId, ...one }) => ({ ...one, event: eventId }))) };
  });
  const remove = suppressions
    .command('remove')
    .description('let an address have e-mails again')
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
    .description('write the e-mail of an event with made-up data, as HTML, text and EML')
    .argument('<eventId>', 'the event', parseId)
    .addOption(
      new Option('--language <language>', "in place of the event's own").choices(['en', 'de'] as const),
    )
    .option('--notice', 'that to a partner whose webhook was given up, in place of that to an attendee')
    .option('--from <sender>', 'the sender; MAIL_FROM by default', parseText)
    .option('--out <directory>', 'where to', parseText, '.');
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

/** What a person reads of an event's e-mails, among others. */
function fieldsOf(status: MailStatus) {
  const { eventId, state, oldestMs, oldestRetryMs, sent, retry, undeliverable, skipped, doubtful } = status;
  const age = (ms: number | null) => (ms === null ? null : `${Math.round(ms / 1_000)} s`);
  return {
    event: eventId,
    state,
    'oldest untried': age(oldestMs),
    'oldest in retry': age(oldestRetryMs),
    sent,
    retry,
    undeliverable,
    skipped,
    'maybe twice': doubtful,
  };
}

function statusText(status: MailStatus): string {
  const reasons = Object.entries(status.reasons).map(([reason, count]) => `${reason} (${count})`);
  return record({ ...fieldsOf(status), reasons: reasons.join(', ') || null });
}
