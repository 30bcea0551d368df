import { Option, type Command } from '@commander-js/extra-typings';
import {
  answeringChange,
  answeringFromDatabase,
  parseId,
  parseText,
  record,
  table,
  type Cli,
} from '@floodgate/command';

const SHARED_PREFIX =
  'Another event has the same prefix: their pass references differ only in the number that follows it.';

/** `floodgate event …` */
export function addEventCommands(program: Command, cli: Cli): void {
  const event = program.command('event').description('events, and who may register for them');
  addCreate(event, cli);
  addList(event, cli);
  addGrant(event, cli);
  addRevoke(event, cli);
}

const load = () => Promise.all([import('@floodgate/audit'), import('./actions.ts')]);

function addCreate(event: Command, cli: Cli): void {
  const create = event
    .command('create')
    .description('add an event')
    .argument('<name>', 'its name', parseText)
    .requiredOption('--prefix <letters>', 'how its pass references begin: 2 to 8 of A–Z and 0–9')
    .addOption(
      new Option('--duplicates <policy>', 'whether an e-mail address may register more than once')
        .choices(['allow', 'reject'])
        .default('allow'),
    );
  answeringChange(create, cli, async (db, actor, { prefix, duplicates }, name) => {
    const [{ perform }, { createEventAction }] = await load();
    const input = { name, passPrefix: prefix, duplicatePolicy: duplicates };
    const created = await perform(db, createEventAction, input, actor);
    const fields = record({
      'event id': created.id,
      'x-event-ref': created.ref,
      name: created.name,
      prefix: created.passPrefix,
      duplicates: created.duplicatePolicy,
    });
    return { document: created, text: created.prefixIsShared ? `${fields}\n${SHARED_PREFIX}` : fields };
  });
}

function addList(event: Command, cli: Cli): void {
  const list = event.command('list').description('list events');
  answeringFromDatabase(list, cli, async (db) => {
    const { listEvents } = await import('./list-events.ts');
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
  answeringChange(grant, cli, async (db, actor, _options, eventId, partnerId) => {
    const [{ perform }, { grantEventAction }] = await load();
    const granted = await perform(db, grantEventAction, { eventId, partnerId }, actor);
    return { document: granted, text: `event ${eventId} is open to partner ${partnerId}` };
  });
}

function addRevoke(event: Command, cli: Cli): void {
  const revoke = event
    .command('revoke')
    .description("close an event to a partner's keys")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId);
  answeringChange(revoke, cli, async (db, actor, _options, eventId, partnerId) => {
    const [{ perform }, { revokeEventAction }] = await load();
    const revoked = await perform(db, revokeEventAction, { eventId, partnerId }, actor);
    return { document: revoked, text: `event ${eventId} is closed to partner ${partnerId}` };
  });
}
