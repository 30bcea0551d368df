import { once, type EventEmitter } from 'node:events';
import { Option, type Command } from '@commander-js/extra-typings';
import { performing } from '@floodgate/audit/performing';
import {
  answeringFromDatabase,
  loadSettings,
  record,
  tableOf,
  withDatabase,
  type Cli,
} from '@floodgate/command';
import { parseCursor, parseId, parseLimit, parseText } from '@floodgate/command/arguments';
import type { RegistrationStatus } from '@floodgate/contract';
import { Failure, NotFound } from '@floodgate/service/failure';

const STATES = ['confirmed', 'cancelled', 'failed'] as const;

/** `floodgate registration …`. Only `export` prints attendees' data. */
export function addRegistrationCommands(program: Command, cli: Cli) {
  const registration = program.command('registration').description('states of registrations');
  const list = registration
    .command('list')
    .description("changes of a partner's registrations for an event, in order")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId)
    .option('--after <cursor>', 'continue from this cursor', parseCursor, 0)
    .option('--limit <entries>', 'at most this many', parseLimit, 100)
    .addOption(new Option('--state <state>', 'only entries of this state').choices(STATES));
  answeringFromDatabase(list, cli, async (db, { after, limit, state }, eventId, partnerId) => {
    const { findEvent } = await import('@floodgate/events');
    const { CURSOR_PROBLEMS, listRegistrations } = await import('./list-registrations.ts');
    const { statusOf } = await import('../status/find-registrations.ts');
    const { shardId } = await findEvent(db, eventId);
    const partner = db.selectFrom('partners').select('id').where('id', '=', partnerId);
    if (!(await partner.executeTakeFirst())) throw new NotFound('no such partner');
    const selection = { shardId, eventId, partnerId, ...(state && { kinds: [state] }) };
    const page = await listRegistrations(db, selection, after, limit);
    if (typeof page === 'string') throw new Failure(`--after: ${CURSOR_PROBLEMS[page]}`);
    const { rows, cursor, more } = page;
    const registrations = rows.map(statusOf);
    const ending = `cursor: ${cursor}${more ? ' (there is more)' : ''}`;
    return {
      document: { registrations, cursor, more },
      text: `${tableOf(registrations.map(fieldsOf))}\n${ending}`,
    };
  });
  addExport(registration, cli);
  const show = registration
    .command('show')
    .description('state of a registration')
    .argument('<passReference>', 'its pass reference', parseText);
  answeringFromDatabase(show, cli, async (db, _options, passReference) => {
    const { findByPassReference } = await import('./list-registrations.ts');
    const { statusOf } = await import('../status/find-registrations.ts');
    const { row, partnerId } = await findByPassReference(db, passReference);
    const status = statusOf(row);
    const document = { ...status, partnerID: partnerId };
    return { document, text: record({ ...fieldsOf(status), partner: partnerId }) };
  });
  const performs = performing(registration, cli, () => import('../actions.ts'));
  performs('cancel', 'cancelRegistrationAction', ({ passReference, wasCancelled }) => {
    return `cancelled: ${passReference}${wasCancelled ? ' (already)' : ''}`;
  })
    .description('cancel a registration, even after the deadline; its seat can be sold again')
    .argument('<passReference>', 'its pass reference', parseText);
  performs('correct', 'correctRegistrationAction', ({ passReference, corrected }) => {
    return `corrected: ${corrected.join(' and ')} of ${passReference}`;
  })
    .description('correct the name or e-mail address of an attendee; the pass stays valid')
    .argument('<passReference>', 'its pass reference', parseText)
    .option('--full-name <name>', 'the right name', parseText)
    .option('--email-address <address>', 'the right address', parseText);
}

function addExport(registration: Command, cli: Cli) {
  const formats = new Option('--format <format>', 'the format').choices(['csv', 'ndjson'] as const);
  registration
    .command('export')
    .description(
      'print all registrations of an event with their attendees; cells that could be formulas get an apostrophe',
    )
    .argument('<eventId>', 'the event', parseId)
    .addOption(formats.default('csv' as const))
    .action(async (eventId, { format }) => {
      const { exportRegistrations } = await import('../export/export-registrations.ts');
      const { databaseUrl } = await loadSettings(cli.env);
      await withDatabase(databaseUrl, null, async (db) => {
        for await (const chunk of exportRegistrations(db, eventId, format)) {
          // A slow reader of standard output must not fill the memory.
          if (cli.stdout.write(chunk) === false) await once(cli.stdout as unknown as EventEmitter, 'drain');
        }
      });
    });
}

/** The text output of a registration. */
function fieldsOf(status: RegistrationStatus) {
  return {
    'pass reference': status.passReference,
    state: status.state,
    ticket: status.organizedEventTicketID,
    reserved: status.dateReserved,
    finalized: status.dateFinalized,
    cancelled: status.dateCancelled,
  };
}
