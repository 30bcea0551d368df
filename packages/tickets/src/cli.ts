import { Option, type Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { actionCommands } from '@floodgate/audit/commands';
import { record, tableOf, timeText, type Cli } from '@floodgate/command';
import {
  parseId,
  parsePrice,
  parseText,
  parseTimeOrNone,
  parseWhole,
  parseWholeOrNone,
} from '@floodgate/command/arguments';
import { queryCommands } from '@floodgate/operators/commands';
import { amountText } from '@floodgate/events/currency';
import type { Allocation } from './allocations.ts';
import type { TicketPrice } from './prices.ts';
import type { DescribedTicket } from './tickets.ts';

interface ChangedSales {
  tickets: number[];
  active: boolean;
  endedHolds?: number;
}

const WITH_HOLDS = [
  '--with-holds',
  'off sale: also end all baskets and offers, which could still be confirmed',
] as const;

/** `floodgate ticket …` */
export function addTicketCommands(program: Command, cli: Cli) {
  const ticket = program.command('ticket').description("an event's tickets");
  const actionCommand = actionCommands(ticket, cli, () => import('./actions.ts'));
  const create = actionCommand('create', (actions) => actions.createTicketAction, textOf)
    .description('add a ticket to an event')
    .argument('<eventId>', 'the event', parseId)
    .requiredOption('--title <title>', 'its title', parseText)
    .requiredOption('--capacity <seats>', 'how many seats it has', parseWhole);
  addSharedOptions(create);
  const update = actionCommand('update', (actions) => actions.updateTicketAction, textOf)
    .description('change the given settings of a ticket')
    .argument('<ticketId>', 'the ticket', parseId)
    .option('--title <title>', 'its title', parseText)
    .option('--capacity <seats>', 'how many seats it has; at least the number of seats taken', parseWhole)
    .option('--active', 'put it on sale')
    .option(...WITH_HOLDS)
    // Not "conflicts": the library takes the value that --inactive implies for a given one.
    .hook('preAction', (command) => {
      const { active, inactive } = command.opts() as { active?: true; inactive?: true };
      if (active && inactive) command.error("option '--active' cannot be used with option '--inactive'");
    });
  addSharedOptions(update);
  const changed = ({ tickets, active, endedHolds }: ChangedSales) => {
    const named = tickets.map((id) => `ticket ${id}`).join(', ');
    const sale = tickets.length === 0 ? 'no ticket has changed' : `${active ? 'on' : 'off'} sale: ${named}`;
    return endedHolds === undefined ? sale : `${sale}\nheld seats that are released: ${endedHolds}`;
  };
  actionCommand('stop-all', (actions) => actions.stopSalesAction, changed)
    .description('take all tickets of an event off sale')
    .argument('<eventId>', 'the event', parseId)
    .option(...WITH_HOLDS);
  actionCommand('resume-all', (actions) => actions.resumeSalesAction, changed)
    .description('put the same tickets on sale again')
    .argument('<eventId>', 'the event', parseId);
  actionCommand('allocate', (actions) => actions.allocateTicketAction, allocationsText)
    .description(
      'reserve seats of a ticket for a partner, or limit how many it may sell; without options, remove both',
    )
    .argument('<ticketId>', 'the ticket', parseId)
    .argument('<partnerId>', 'the partner', parseId)
    .option('--reserved <seats>', 'seats that only this partner may sell', parseWhole)
    .option('--cap <seats>', 'how many seats it may sell, or none', parseWholeOrNone)
    .option('--releases-at <time>', 'when everybody may sell the reserved seats, or none', parseTimeOrNone);
  addQueries(ticket, cli);
}

function addQueries(ticket: Command, cli: Cli) {
  const queryCommand = queryCommands(
    ticket,
    cli,
    async () => (await import('./console.ts')).ticketOperations,
  );
  queryCommand(
    'list',
    (operations) => operations.ticketList,
    (tickets) => tableOf(tickets.map(fieldsOf)),
  )
    .description('list the tickets of an event, on sale or not')
    .argument('<eventId>', 'the event', parseId);
  queryCommand('allocations', (operations) => operations.ticketAllocations, allocationsText)
    .description('list the allocations of a ticket')
    .argument('<ticketId>', 'the ticket', parseId);
  queryCommand('prices', (operations) => operations.ticketPrices, pricesText)
    .description('list the prices that a ticket had and has, and since when')
    .argument('<ticketId>', 'the ticket', parseId);
}

function addSharedOptions(command: CommandUnknownOpts) {
  command
    .option('--price <amount>', 'its price, e.g. 12.50', parsePrice)
    .option('--benefits <text>', 'what it includes', parseText)
    .addOption(new Option('--inactive', 'keep it off sale').implies({ active: false }))
    .option('--sale-starts <time>', 'e.g. 2026-11-21T09:00:00+01:00, or none', parseTimeOrNone)
    .option('--sale-ends <time>', 'e.g. 2026-12-01T00:00:00Z, or none', parseTimeOrNone)
    .option(
      '--offer-hours <hours>',
      'opens a waiting list, and says how long its offers last, e.g. 24; none closes it',
      parseWholeOrNone,
    )
    .option('--waiting-closes <time>', 'when the waiting list closes, or none', parseTimeOrNone)
    .option('--public-name <name>', 'who changed it, for partners; by default "operator"', parseText);
}

function textOf({ endedHolds, ...ticket }: DescribedTicket & { endedHolds?: number }) {
  const { id, ...others } = fieldsOf(ticket);
  const ended = endedHolds === undefined ? {} : { 'held seats that are released': endedHolds };
  return record({ 'ticket id': id, ...others, ...ended });
}

/** Returns the columns of a ticket for text output. */
function fieldsOf(ticket: DescribedTicket) {
  const { id, title, price, active, capacity, taken, left, waiting } = ticket;
  return {
    id,
    title,
    price: price.toFixed(2),
    active,
    capacity,
    taken,
    left,
    waiting,
    'on sale': windowOf(ticket),
  };
}

const allocationsText = (allocations: Allocation[]) =>
  allocations.length === 0 ? 'no allocations' : tableOf(allocations.map(allocationFieldsOf));

function allocationFieldsOf({ partnerId, reserved, unsold, cap, taken, releasesAt }: Allocation) {
  const releases = releasesAt && timeText(releasesAt);
  return { partner: partnerId, reserved, unsold, taken, cap: cap ?? 'none', releases: releases ?? 'never' };
}

interface Prices {
  currency: string | null;
  prices: TicketPrice[];
}

const pricesText = ({ currency, prices }: Prices) =>
  tableOf(
    prices.map(({ validFrom, price }) => ({
      'valid from': validFrom ? timeText(validFrom) : 'the beginning',
      price: amountText(price, currency),
      currency,
    })),
  );

/** Returns a sales window in words. */
export function windowOf(window: Pick<DescribedTicket, 'saleStartsAt' | 'saleEndsAt'>) {
  const from = window.saleStartsAt && `from ${timeText(window.saleStartsAt)}`;
  const until = window.saleEndsAt && `until ${timeText(window.saleEndsAt)}`;
  return [from, until].filter(Boolean).join(' ') || 'any time';
}
