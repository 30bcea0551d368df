import { Option, type Command } from '@commander-js/extra-typings';
import { performing } from '@floodgate/audit/performing';
import {
  answeringChange,
  answeringFromDatabase,
  inputOf,
  record,
  tableOf,
  type Cli,
} from '@floodgate/command';
import { timeText } from '@floodgate/command/output';
import { parseId, parseText, parseTimeOrNone, parseWhole } from '@floodgate/command/arguments';
import type { Event } from './events.ts';

const loadActions = () => import('./actions.ts');

const SHARED_PREFIX =
  'Another event has the same prefix: their pass references differ only in the number that follows it.';

const CANCEL_UNTIL = 'until when partners may cancel registrations, e.g. 2026-12-01T00:00:00Z, or none';

const TEST = new Option('--test', 'a test event: only test keys open it, and it stays one');

/** `floodgate event …` */
export function addEventCommands(program: Command, cli: Cli): void {
  const event = program.command('event').description('events, and who may register for them');
  const performs = performing(event, cli, loadActions);
  const fields = { duplicatePolicy: 'duplicates', duplicateScope: 'duplicatesOf' };
  performs('create', 'createEventAction', createdText, fields)
    .description('add an event')
    .argument('<name>', 'its name', parseText)
    .requiredOption('--prefix <letters>', 'how its pass references begin: 2 to 8 of A–Z and 0–9')
    .addOption(
      new Option('--duplicates <policy>', 'what becomes of an e-mail address that is registered already')
        .choices(['allow', 'reject', 'return_existing'])
        .default('allow'),
    )
    .addOption(
      new Option('--duplicates-of <what>', 'what an e-mail address may register for only once')
        .choices(['event', 'ticket'])
        .default('event'),
    )
    .option('--cancel-until <time>', CANCEL_UNTIL, parseTimeOrNone)
    .addOption(TEST.implies({ mode: 'test' }));
  addUpdate(event, cli);
  const list = event.command('list').description('list events');
  answeringFromDatabase(list, cli, async (db) => {
    const { listEvents, listShards } = await import('./events.ts');
    const [events, shards] = [await listEvents(db), await listShards(db)];
    const rows = events.map((row) => ({
      id: row.id,
      ...(shards.length > 1 && { shard: row.shardId }),
      ...fieldsOf(row),
      starts: row.startsAt,
      created: row.createdAt,
    }));
    return { document: events, text: tableOf(rows) };
  });
  performs('grant', 'grantEventAction', accessText)
    .description("open an event to a partner's keys")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId);
  performs('revoke', 'revokeEventAction', accessText)
    .description("close an event to a partner's keys")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId);
}

function addUpdate(event: Command, cli: Cli): void {
  const update = event
    .command('update')
    .description('change the given settings of an event, and leave the rest')
    .argument('<eventId>', 'the event', parseId)
    .option('--cancel-until <time>', CANCEL_UNTIL, parseTimeOrNone)
    .option('--starts <time>', 'e.g. 2026-11-21T19:00:00+01:00, or none', parseTimeOrNone)
    .option('--ends <time>', 'e.g. 2026-11-21T23:00:00+01:00, or none', parseTimeOrNone)
    .option('--venue <place>', 'where it takes place, or none', parseText)
    .option('--time-zone <name>', 'for its times, e.g. Europe/Berlin, or none', parseText)
    .option('--language <code>', 'in which attendees are written to: en or de', parseText)
    .option('--reply-to <address>', "where attendees' answers go, or none", parseText)
    .option(
      '--notify-holders',
      'send an e-mail with the time and place to everybody whose e-mail is out of date',
    );
  answeringChange(update, cli, async (db, actor) => {
    const { perform } = await import('@floodgate/audit');
    const { notifyHoldersAction, updateEventAction } = await loadActions();
    const { notifyHolders } = update.opts();
    const input = inputOf(update, updateEventAction.input);
    const { eventId } = input;
    const isChange = Object.keys(input).length > 1 || !notifyHolders;
    const updated = isChange ? await perform(db, updateEventAction, input, actor) : null;
    // After the change is committed.
    const notified = notifyHolders ? await perform(db, notifyHoldersAction, { eventId }, actor) : null;
    const lines = updated
      ? [record({ 'event id': eventId, ...fieldsOf(updated), ...detailsOf(updated) })]
      : [];
    if (notified) lines.push(`${notified.notified} e-mails with the time and place are queued`);
    else if (updated && updated.outdatedEmails > 0)
      lines.push(
        `Warning: ${updated.outdatedEmails} e-mails with the old time or place were sent. ` +
          `Their passes stay valid. To send an update: floodgate event update ${eventId} --notify-holders`,
      );
    return { document: { ...updated, ...notified }, text: lines.join('\n') };
  });
}

/** `floodgate shard …` */
export function addShardCommands(program: Command, cli: Cli): void {
  const shard = program.command('shard').description('where events live');
  const list = shard.command('list').description('list shards, and how many events live in each');
  answeringFromDatabase(list, cli, async (db) => {
    const { listShards } = await import('./events.ts');
    const shards = await listShards(db);
    return { document: shards, text: tableOf(shards.map(({ id, events }) => ({ shard: id, events }))) };
  });
  const performs = performing(shard, cli, loadActions);
  performs('move', 'moveEventAction', (done) => `event ${done.eventId} lives in shard ${done.shardId}`)
    .description('move an event that nobody has registered for')
    .argument('<eventId>', 'the event', parseId)
    .argument('<shardId>', 'where to', parseWhole);
}

const accessText = (access: { eventId: number; partnerId: number; granted: boolean }) =>
  `event ${access.eventId} is ${access.granted ? 'open' : 'closed'} to partner ${access.partnerId}`;

function createdText({ prefixIsShared, ...created }: Event & { prefixIsShared: boolean }): string {
  const fields = record({ 'event id': created.id, ...fieldsOf(created) });
  return prefixIsShared ? `${fields}\n${SHARED_PREFIX}` : fields;
}

/** The text output of an event. */
function fieldsOf({ ref, name, mode, passPrefix, duplicatePolicy, duplicateScope, cancelUntil }: Event) {
  const duplicates = duplicatePolicy === 'allow' ? duplicatePolicy : `${duplicatePolicy} (${duplicateScope})`;
  const cancellable = cancelUntil ? `until ${timeText(cancelUntil)}` : 'any time';
  return { 'x-event-ref': ref, name, mode, prefix: passPrefix, duplicates, cancellable };
}

function detailsOf({ startsAt, endsAt, venue, timeZone, language, replyTo }: Event) {
  return { starts: startsAt, ends: endsAt, venue, 'time zone': timeZone, language, 'reply to': replyTo };
}
