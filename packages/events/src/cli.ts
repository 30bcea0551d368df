import { Option, type Command } from '@commander-js/extra-typings';
import { answeringChange, answeringFromDatabase, record, tableOf, type Cli } from '@floodgate/command';
import { timeText } from '@floodgate/command/output';
import {
  parseId,
  parseTextOrNone,
  parseTimeOrNone,
  parseText,
  parseWhole,
} from '@floodgate/command/arguments';
import type { Database } from '@floodgate/database';
import type { listEvents } from './events.ts';

const SHARED_PREFIX =
  'Another event has the same prefix: their pass references differ only in the number that follows it.';

const CANCEL_UNTIL = 'until when partners may cancel registrations, e.g. 2026-12-01T00:00:00Z, or none';

const orNull = <Value>(value: Value | 'none') => (value === 'none' ? null : value);

/** `floodgate event …` */
export function addEventCommands(program: Command, cli: Cli): void {
  const event = program.command('event').description('events, and who may register for them');
  addCreate(event, cli);
  const update = event
    .command('update')
    .description('change an event')
    .argument('<eventId>', 'the event', parseId)
    .requiredOption('--cancel-until <time>', CANCEL_UNTIL, parseTimeOrNone);
  answeringChange(update, cli, async (db, actor, { cancelUntil }, eventId) => {
    const { perform, updateEventAction } = await import('./actions.ts');
    const input = { eventId, cancelUntil: orNull(cancelUntil) };
    const updated = await perform(db, updateEventAction, input, actor);
    return { document: updated, text: record({ 'event id': updated.id, ...fieldsOf(updated) }) };
  });
  addDescribe(event, cli);
  const list = event.command('list').description('list events');
  answeringFromDatabase(list, cli, async (db) => {
    const { listEvents } = await import('./events.ts');
    const { listShards } = await import('./shards.ts');
    const [events, shards] = [await listEvents(db), await listShards(db)];
    const placeOf = ({ shardId }: Event) => (shards.length > 1 ? { shard: shardId } : {});
    const rows = events.map((row) => {
      const { startsAt: starts, createdAt: created } = row;
      return { id: row.id, ...placeOf(row), ...fieldsOf(row), starts, created };
    });
    return { document: events, text: tableOf(rows) };
  });
  addAccess(event, cli, 'grant', "open an event to a partner's keys", 'open');
  addAccess(event, cli, 'revoke', "close an event to a partner's keys", 'closed');
}

function addCreate(event: Command, cli: Cli): void {
  const create = event
    .command('create')
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
    .option('--test', 'a test event: only test keys open it, and it stays one');
  answeringChange(
    create,
    cli,
    async (db, actor, { prefix, duplicates, duplicatesOf, cancelUntil, test }, name) => {
      const { perform, createEventAction } = await import('./actions.ts');
      const input = {
        name,
        passPrefix: prefix,
        mode: test ? ('test' as const) : ('live' as const),
        duplicatePolicy: duplicates,
        duplicateScope: duplicatesOf,
        ...(cancelUntil && { cancelUntil: orNull(cancelUntil) }),
      };
      const created = await perform(db, createEventAction, input, actor);
      const fields = record({ 'event id': created.id, ...fieldsOf(created) });
      return { document: created, text: created.prefixIsShared ? `${fields}\n${SHARED_PREFIX}` : fields };
    },
  );
}

function addDescribe(event: Command, cli: Cli): void {
  const describe = event
    .command('describe')
    .description('change the given details of an event, and leave the rest')
    .argument('<eventId>', 'the event', parseId)
    .option('--starts <time>', 'e.g. 2026-11-21T19:00:00+01:00, or none', parseTimeOrNone)
    .option('--ends <time>', 'e.g. 2026-11-21T23:00:00+01:00, or none', parseTimeOrNone)
    .option('--venue <place>', 'where it takes place, or none', parseTextOrNone)
    .option('--time-zone <name>', 'for its times, e.g. Europe/Berlin, or none', parseTextOrNone)
    .option('--language <code>', 'in which attendees are written to: en or de', parseText)
    .option('--reply-to <address>', "where attendees' answers go, or none", parseTextOrNone)
    .option(
      '--notify-holders',
      'send an e-mail with the time and place to everybody whose e-mail is out of date',
    );
  answeringChange(describe, cli, async (db, actor, options, eventId) => {
    const { perform, describeEventAction } = await import('./actions.ts');
    const { starts, ends, venue, timeZone, language, replyTo, notifyHolders } = options;
    const details = given({ startsAt: starts, endsAt: ends, venue, timeZone, replyTo });
    // Which languages there are is the action's rule.
    const input = { eventId, ...details, ...(language !== undefined && { language: language as 'en' }) };
    const isChange = Object.keys(input).length > 1 || !notifyHolders;
    const described = isChange ? await perform(db, describeEventAction, input, actor) : null;
    // A transaction of its own: see queueEventUpdates.
    const told = await tellHolders(db, actor, eventId, { notifyHolders, isMoved: described?.isMoved });
    const text = described ? `${record({ 'event id': eventId, ...detailsOf(described) })}\n` : '';
    return { document: { ...described, ...told.document }, text: (text + told.text).trimEnd() };
  });
}

/** Notifies holders of passes if that was asked for. Otherwise warns if a change made their e-mails out of date. */
async function tellHolders(
  db: Database,
  actor: string,
  eventId: number,
  { notifyHolders, isMoved }: { notifyHolders: boolean | undefined; isMoved: boolean | undefined },
) {
  if (notifyHolders) {
    const { perform, notifyHoldersAction } = await import('./actions.ts');
    const { notified } = await perform(db, notifyHoldersAction, { eventId }, actor);
    return { document: { notified }, text: `${notified} e-mails with the time and place are queued` };
  }
  if (!isMoved) return { document: {}, text: '' };
  const { findWholeEvent } = await import('./events.ts');
  const { countHolders } = await import('./holders.ts');
  const event = await findWholeEvent(db, eventId);
  const holders = event ? await countHolders(db, event) : 0;
  const warning =
    `Warning: ${holders} e-mails with the old time or place were sent. ` +
    `Their passes stay valid. To send an update: floodgate event describe ${eventId} --notify-holders`;
  return { document: { outdatedEmails: holders }, text: holders > 0 ? warning : '' };
}

/** What was given, and null for "none". */
function given<Options extends object>(options: Options) {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, orNull(value)])) as {
    [Name in keyof Options]?: Exclude<Options[Name], 'none' | undefined> | null;
  };
}

/** The details of an event. */
function detailsOf({ startsAt, endsAt, venue, timeZone, language, replyTo }: Event) {
  return { starts: startsAt, ends: endsAt, venue, 'time zone': timeZone, language, 'reply to': replyTo };
}

/** `floodgate shard …` */
export function addShardCommands(program: Command, cli: Cli): void {
  const shard = program.command('shard').description('where events live');
  const list = shard.command('list').description('list shards, and how many events live in each');
  answeringFromDatabase(list, cli, async (db) => {
    const { listShards } = await import('./shards.ts');
    const shards = await listShards(db);
    return { document: shards, text: tableOf(shards.map(({ id, events }) => ({ shard: id, events }))) };
  });
  const move = shard
    .command('move')
    .description('move an event that nobody has registered for')
    .argument('<eventId>', 'the event', parseId)
    .argument('<shardId>', 'where to', parseWhole);
  answeringChange(move, cli, async (db, actor, _options, eventId, shardId) => {
    const { perform, moveEventAction } = await import('./actions.ts');
    const document = await perform(db, moveEventAction, { eventId, shardId }, actor);
    return { document, text: `event ${eventId} lives in shard ${shardId}` };
  });
}

type Event = Awaited<ReturnType<typeof listEvents>>[number];

/** What a person reads of an event. */
function fieldsOf({ ref, name, mode, passPrefix, duplicatePolicy, duplicateScope, cancelUntil }: Event) {
  const duplicates = duplicatePolicy === 'allow' ? duplicatePolicy : `${duplicatePolicy} (${duplicateScope})`;
  const cancellable = cancelUntil ? `until ${timeText(cancelUntil)}` : 'any time';
  return { 'x-event-ref': ref, name, mode, prefix: passPrefix, duplicates, cancellable };
}

function addAccess(event: Command, cli: Cli, name: 'grant' | 'revoke', description: string, state: string) {
  const access = event
    .command(name)
    .description(description)
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId);
  answeringChange(access, cli, async (db, actor, _options, eventId, partnerId) => {
    const { perform, grantEventAction, revokeEventAction } = await import('./actions.ts');
    const action = name === 'grant' ? grantEventAction : revokeEventAction;
    const document = await perform(db, action, { eventId, partnerId }, actor);
    return { document, text: `event ${eventId} is ${state} to partner ${partnerId}` };
  });
}
