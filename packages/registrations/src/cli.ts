import { EventEmitter, once } from 'node:events';
import { Option, type Command } from '@commander-js/extra-typings';
import { actionCommands, withInput } from '@floodgate/audit/commands';
import { columnsOf, loadSettings, onRun, record, tableOf, withDatabase, type Cli } from '@floodgate/command';
import { parseCursor, parseId, parseLimit, parseText } from '@floodgate/command/arguments';
import type { RegistrationList } from '@floodgate/contract';
import { awayText } from '@floodgate/database/reads/shards';
import { amountText } from '@floodgate/events/currency';
import { queryCommands } from '@floodgate/operators/commands';
import type { Static } from '@sinclair/typebox';
import { addEventFilterOptions, addFilterOptions } from './filter/options.ts';
import type { FoundAttendees } from './find/find-attendees.ts';
import {
  addQueueCommands,
  addRedriveCommand,
  addStatusCommand,
  type StatusCheck,
} from './finalize/commands.ts';

export { addGuestCommands } from './guests/commands.ts';

const STATES = ['confirmed', 'cancelled', 'failed'] as const;
const FOUND_STATES = [...STATES, 'held', 'waiting'] as const;

/** The consequence of a change after the seat has let in a person. */
const AFTER_ADMISSION = {
  cancel: 'The seat had let in a person. It can be sold again, and the door report lists it',
  replace: 'The seat had let in a person. So a scan of the new pass answers that it is already admitted',
};

type Entry = Static<typeof RegistrationList>['registrations'][number];

/** `floodgate registration …`. Only `find` and `export` print attendees' data. */
export function addRegistrationCommands(program: Command, cli: Cli) {
  const registration = program.command('registration').description('states of registrations');
  const queryCommand = queryCommands(
    registration,
    cli,
    async () => (await import('./console.ts')).registrationOperations,
  );
  queryCommand(
    'list',
    (operations) => operations.registrationList,
    ({ registrations, cursor, more }) => {
      const ending = `cursor: ${cursor}${more ? ' (there is more)' : ''}`;
      return `${tableOf(registrations.map(fieldsOf))}\n${ending}`;
    },
  )
    .description("changes of a partner's registrations for an event, in order")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId)
    .option('--after <cursor>', 'continue from this cursor', parseCursor, 0)
    .option('--limit <entries>', 'at most this many', parseLimit, 100)
    .addOption(new Option('--state <state>', 'only entries of this state').choices(STATES))
    .option(
      '--partner-reference <reference>',
      'the registrations with this reference of the partner',
      parseText,
    );
  addByFilter(registration, cli);
  addFind(registration, cli);
  addExport(registration, cli);
  queryCommand(
    'show',
    (operations) => operations.registrationShow,
    ({ partnerId, price, currency, ...status }) =>
      record({
        ...fieldsOf(status),
        partner: partnerId,
        price: price === null ? null : amountText(price, currency),
        currency,
      }),
  )
    .description('state of a registration, and the price of its seat')
    .argument('<passReference>', 'its pass reference', parseText);
  addChanges(registration, cli);
}

function addChanges(registration: Command, cli: Cli) {
  const actionCommand = actionCommands(registration, cli, () => import('./actions.ts'));
  actionCommand(
    'cancel',
    (actions) => actions.cancelRegistrationAction,
    ({ passReference, wasCancelled, wasAdmitted }) => {
      const done = `cancelled: ${passReference}${wasCancelled ? ' (already)' : ''}`;
      return wasAdmitted ? `${done}\n${AFTER_ADMISSION.cancel}` : done;
    },
  )
    .description('cancel a registration, even after the deadline or an admission; its seat can be sold again')
    .argument('<passReference>', 'its pass reference', parseText);
  actionCommand(
    'correct',
    (actions) => actions.correctRegistrationAction,
    ({ passReference, corrected }) => {
      return `corrected: ${corrected.join(' and ')} of ${passReference}`;
    },
  )
    .description('correct the name or e-mail address of an attendee; the pass stays valid')
    .argument('<passReference>', 'its pass reference', parseText)
    .option('--full-name <name>', 'the right name', parseText)
    .option('--email-address <address>', 'the right address', parseText);
  actionCommand(
    'replace',
    (actions) => actions.replaceAttendeeAction,
    ({ passReference, replaced, wasAdmitted }) => {
      const done = `replaced: ${replaced} by ${passReference}`;
      return wasAdmitted ? `${done}\n${AFTER_ADMISSION.replace}` : done;
    },
  )
    .description(
      'give the seat of a registration to another attendee, even after the deadline or an admission; the old ' +
        'pass is revoked',
    )
    .argument('<passReference>', 'its pass reference', parseText)
    .argument('<fullName>', 'the name of the new attendee', parseText)
    .argument('<emailAddress>', 'the address of the new attendee', parseText);
}

function addByFilter(registration: Command, cli: Cli) {
  const queryCommand = queryCommands(
    registration,
    cli,
    async () => (await import('./console.ts')).registrationOperations,
  );
  const search = queryCommand(
    'search',
    (operations) => operations.registrationSearch,
    ({ registrations, cursor, more }) => {
      const columns = ['passReference', 'state', 'ticketTitle', 'fullName', 'emailAddress', 'mail'] as const;
      const ending = `cursor: ${cursor}${more ? ' (there may be more)' : ''}`;
      return `${columnsOf(registrations, columns)}\n${ending}`;
    },
  ).description('the registrations of an event that a filter selects, with their attendees');
  addEventFilterOptions(search);
  search
    .option('--after <cursor>', 'continue from this cursor', parseCursor, 0)
    .option('--limit <entries>', 'at most this many', parseLimit, 100);
  const count = queryCommand(
    'count',
    (operations) => operations.registrationCount,
    (counted) => String(counted.count),
  ).description('the number of registrations of an event that a filter selects');
  addEventFilterOptions(count);
}

function addFind(registration: Command, cli: Cli) {
  const queryCommand = queryCommands(
    registration,
    cli,
    async () => (await import('./console.ts')).registrationOperations,
  );
  queryCommand(
    'find',
    (operations) => operations.attendeeFind,
    ({ attendees, ...page }) => {
      const text = `${tableOf(attendees.map(hitFields))}\n${endingOf(page)}`;
      return { text, ...(page.shardsAway.length > 0 && { failure: awayText(page.shardsAway) }) };
    },
  )
    .description(
      'find attendees, also on waiting lists, the newest first: by the beginning of any words of the name, of ' +
        "parts of the e-mail address, of the partner's reference or of the phone number; or by the pass reference",
    )
    .argument('[text]', 'all its words must match; without it, all of the event', parseText)
    .option('--event <eventId>', 'only this event', parseId)
    .option('--partner <partnerId>', 'only those of this partner', parseId)
    .option('--ticket <ticketId>', 'only this ticket', parseId)
    .addOption(new Option('--state <state>', 'only those in this state').choices(FOUND_STATES))
    .option('--after <cursor>', 'continue with older ones', parseCursor)
    .option('--before <cursor>', 'go back to newer ones', parseCursor)
    .option('--limit <entries>', 'at most this many', parseLimit, 100);
}

function addExport(registration: Command, cli: Cli) {
  const formats = new Option('--format <format>', 'the format').choices(['csv', 'excel', 'ndjson'] as const);
  const separators = new Option('--separator <name>', 'what separates the cells').choices([
    'comma',
    'semicolon',
    'tab',
  ] as const);
  const command = registration
    .command('export')
    .description(
      'print the registrations of an event with their attendees: all, or those that a filter selects; cells ' +
        'that could be formulas get an apostrophe. The format excel is csv with a byte order mark; Excel splits ' +
        'it by the list separator of the region',
    )
    .argument('<eventId>', 'the event', parseId)
    .addOption(formats.default('csv' as const))
    .addOption(separators.default('comma' as const));
  addFilterOptions(command);
  command.action(async (eventId, options) => {
    const { exportRegistrations } = await import('./export/export-registrations.ts');
    const { filterOf, RegistrationFilter } = await import('./filter/filter.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    const filter = await withInput(command, RegistrationFilter, async (given) =>
      filterOf({ ...given, eventId }),
    );
    await withDatabase(databaseUrl, null, async (db) => {
      for await (const chunk of exportRegistrations(db, eventId, { ...options, filter })) {
        // A slow reader of standard output must not fill the memory.
        if (cli.stdout.write(chunk) === false && cli.stdout instanceof EventEmitter)
          await once(cli.stdout, 'drain');
      }
    });
  });
}

const hitFields = (hit: FoundAttendees['attendees'][number]) => ({
  kind: hit.kind,
  state: hit.state,
  event: hit.eventId,
  ticket: hit.ticketId,
  partner: hit.partnerId,
  name: hit.fullName,
  address: hit.emailAddress,
  phone: hit.phoneNumber,
  'partner reference': hit.partnerReference,
  'pass reference or entry': hit.passReference ?? hit.entry,
});

/** Says how many there are, and how to continue. */
function endingOf({ total, moreThanTotal, cursor, previous, incomplete }: Omit<FoundAttendees, 'attendees'>) {
  return [
    `found: ${moreThanTotal ? 'more than ' : ''}${total}`,
    cursor !== null && `older ones: --after ${cursor}`,
    previous !== null && `newer ones: --before ${previous}`,
    incomplete && 'older registrations are still being added to the search',
  ]
    .filter(Boolean)
    .join('\n');
}

/** The text output of a registration. */
function fieldsOf(status: Entry) {
  return {
    'pass reference': status.passReference,
    state: status.state,
    ticket: status.organizedEventTicketID,
    reserved: status.dateReserved,
    finalized: status.dateFinalized,
    cancelled: status.dateCancelled,
    'partner reference': status.partnerReference ?? null,
  };
}

/** Differences in the text output. More do not help an operator, and --json has them all. */
const SHOWN = 100;

/** `floodgate reconcile` */
function addReconcileCommand(program: Command, cli: Cli) {
  const command = program
    .command('reconcile')
    .description(
      `prove that seats, registrations and batches agree; exit 1 if they do not. Shows up to ${SHOWN} ` +
        'differences, --json all',
    );
  onRun(command, cli, async () => {
    const { reconcile, UNREAD } = await import('./reconcile/reconcile.ts');
    const { readBacklog } = await import('./finalize/backlog.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    // No statement timeout, because it reads every registration.
    return withDatabase(databaseUrl, null, async (db) => {
      const differences = await reconcile(db);
      const { failedBatches } = await readBacklog(db);
      const balanced = differences.length === 0;
      const more = differences.length - SHOWN;
      const unread = differences.filter(({ problem }) => problem === UNREAD).length;
      const found = differences.length - unread;
      const lines = [
        balanced
          ? 'balanced: seats, registrations and batches agree, and no batch was forgotten'
          : tableOf(differences.slice(0, SHOWN)),
        more > 0 && `… and ${more} more; --json lists them all`,
        failedBatches > 0 && `failed batches, which keep their seats: ${failedBatches}; see redrive`,
      ];
      const failures = [
        found > 0 && `not balanced: ${found} found`,
        unread > 0 && `shards that do not answer: ${unread}`,
      ];
      return {
        document: { balanced, differences, failedBatches },
        text: lines.filter(Boolean).join('\n'),
        ...(!balanced && { failure: failures.filter(Boolean).join('; ') }),
      };
    });
  });
}

/**
 * Returns `floodgate status`, `queue`, `redrive` and `reconcile`, in the order of the help. `checks`: what else the
 * status reports.
 */
export const queueCommands = (checks: readonly StatusCheck[]) => [
  (program: Command, cli: Cli) => addStatusCommand(program, cli, checks),
  (program: Command, cli: Cli) => addQueueCommands(program, cli, checks),
  addRedriveCommand,
  addReconcileCommand,
];
