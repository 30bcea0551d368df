import { Option, type Command } from '@commander-js/extra-typings';
import { parseCursor, parseId, parseLimit, tableOf, type Cli } from '@floodgate/command';
import { queryCommands } from '@floodgate/operators/commands';
import { STATES } from './states.ts';
import type { FoundEntry } from './waiting-list.ts';

/** `floodgate waiting-list …` */
export function addWaitingListCommands(program: Command, cli: Cli) {
  const list = program.command('waiting-list').description('who waits for seats of a ticket');
  const queryCommand = queryCommands(
    list,
    cli,
    async () => (await import('./console.ts')).waitingListOperations,
  );
  queryCommand(
    'list',
    (operations) => operations.waitingList,
    ({ entries, cursor, more }) => {
      const ending = `cursor: ${cursor}${more ? ' (there is more)' : ''}`;
      return `${tableOf(entries.map(fieldsOf))}\n${ending}`;
    },
  )
    .description('list the entries of the waiting list of a ticket, in the order in which they joined')
    .argument('<ticketId>', 'the ticket', parseId)
    .option('--after <cursor>', 'continue from this cursor', parseCursor, 0)
    .option('--limit <entries>', 'at most this many', parseLimit, 100)
    .addOption(new Option('--state <state>', 'only entries of this state').choices(STATES));
}

function fieldsOf({ entry, partnerId: partner, seats, state, position, skipped, ...dates }: FoundEntry) {
  const offer = { joined: dates.dateJoined, 'offer expires': dates.dateExpires ?? '' };
  return { entry, partner, seats, state, place: position ?? '', skipped, ...offer };
}
