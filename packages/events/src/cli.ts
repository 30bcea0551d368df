import { Option, type Command } from 'commander';
import { createEvent, grantEvent, listEvents, revokeEvent } from './events.ts';
import { type DuplicatePolicy } from '@floodgate/database';
import {
  answeringFromDatabase,
  parseId,
  parseName,
  parsePrefix,
  type Cli,
  Failure,
  record,
  table,
} from '@floodgate/command';

/** `floodgate event …` */
export function addEventCommands(program: Command, cli: Cli): void {
  const event = program.command('event').description('events, and who may register for them');
  addCreate(event, cli);
  addList(event, cli);
  addGrant(event, cli);
  addRevoke(event, cli);
}

function addCreate(event: Command, cli: Cli): void {
  const create = event
    .command('create')
    .description('add an event')
    .argument('<name>', 'its name', parseName)
    .requiredOption('--prefix <letters>', 'how its pass references begin: 2 to 8 of A–Z and 0–9', parsePrefix)
    .addOption(
      new Option('--duplicates <policy>', 'whether an e-mail address may register more than once')
        .choices(['allow', 'reject'])
        .default('allow'),
    );
  type Options = { prefix: string; duplicates: DuplicatePolicy };
  answeringFromDatabase(create, cli, async (db, { prefix, duplicates }: Options, name: string) => {
    const created = await createEvent(db, { name, passPrefix: prefix, duplicatePolicy: duplicates });
    const fields = {
      'event id': created.id,
      'x-event-ref': created.ref,
      name: created.name,
      prefix: created.passPrefix,
      duplicates: created.duplicatePolicy,
    };
    return { document: created, text: record(fields) };
  });
}

function addList(event: Command, cli: Cli): void {
  const list = event.command('list').description('list events');
  answeringFromDatabase(list, cli, async (db) => {
    const events = await listEvents(db);
    const rows = events.map((row) => [
      row.id,
      row.ref,
      row.name,
      row.passPrefix,
      row.duplicatePolicy,
      row.createdAt,
    ]);
    const headings = ['id', 'x-event-ref', 'name', 'prefix', 'duplicates', 'created'];
    return { document: events, text: table(headings, rows) };
  });
}

function addGrant(event: Command, cli: Cli): void {
  const grant = event
    .command('grant')
    .description("open an event to a partner's keys")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId);
  answeringFromDatabase(grant, cli, async (db, _options: object, eventId: number, partnerId: number) => {
    await grantEvent(db, partnerId, eventId);
    return {
      document: { eventId, partnerId, granted: true },
      text: `event ${eventId} is open to partner ${partnerId}`,
    };
  });
}

function addRevoke(event: Command, cli: Cli): void {
  const revoke = event
    .command('revoke')
    .description("close an event to a partner's keys")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId);
  answeringFromDatabase(revoke, cli, async (db, _options: object, eventId: number, partnerId: number) => {
    if (!(await revokeEvent(db, partnerId, eventId))) {
      throw new Failure(`event ${eventId} was not open to partner ${partnerId}`);
    }
    return {
      document: { eventId, partnerId, granted: false },
      text: `event ${eventId} is closed to partner ${partnerId}`,
    };
  });
}
