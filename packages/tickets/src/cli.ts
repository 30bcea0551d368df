import { Option, type Command, type OptionValues } from '@commander-js/extra-typings';
import { answeringChange, answeringFromDatabase, type Cli } from '@floodgate/command';
import {
  given,
  parseId,
  parsePrice,
  parseTimeOrNone,
  parseText,
  parseWhole,
} from '@floodgate/command/arguments';
import { record, tableOf, timeText, type Answer } from '@floodgate/command/output';
import type { DescribedTicket } from './tickets.ts';

/** `floodgate ticket …` */
export function addTicketCommands(program: Command, cli: Cli): void {
  const ticket = program.command('ticket').description("an event's tickets");
  const create = ticket
    .command('create')
    .description('add a ticket to an event')
    .argument('<eventId>', 'the event', parseId)
    .requiredOption('--title <title>', 'its title', parseText)
    .requiredOption('--capacity <seats>', 'how many seats it has', parseWhole);
  answeringChange(withSharedOptions(create), cli, async (db, actor, options, eventId) => {
    const { perform, createTicketAction } = await import('./actions.ts');
    return answerOf(await perform(db, createTicketAction, { eventId, ...settingsIn(options) }, actor));
  });
  const update = ticket
    .command('update')
    .description('change what is given of a ticket, and leave the rest')
    .argument('<ticketId>', 'the ticket', parseId)
    .option('--title <title>', 'its title', parseText)
    .option('--capacity <seats>', 'how many seats it has; not less than are taken', parseWhole)
    .addOption(new Option('--active', 'put it on sale').conflicts('inactive'));
  answeringChange(withSharedOptions(update), cli, async (db, actor, options, ticketId) => {
    const { perform, updateTicketAction } = await import('./actions.ts');
    return answerOf(await perform(db, updateTicketAction, { ticketId, ...settingsIn(options) }, actor));
  });
  const list = ticket
    .command('list')
    .description('list the tickets of an event, on sale or not')
    .argument('<eventId>', 'the event', parseId);
  answeringFromDatabase(list, cli, async (db, _options, eventId) => {
    const { describeTicket, listTickets } = await import('./tickets.ts');
    const tickets = (await listTickets(db, eventId)).map(describeTicket);
    return { document: tickets, text: tableOf(tickets.map(fieldsOf)) };
  });
}

function withSharedOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option('--price <amount>', 'its price, e.g. 12.50', parsePrice)
    .option('--benefits <text>', 'what it comes with', parseText)
    .option('--inactive', 'keep it off sale')
    .option('--sale-starts <time>', 'e.g. 2026-11-21T09:00:00+01:00, or none', parseTimeOrNone)
    .option('--sale-ends <time>', 'e.g. 2026-12-01T00:00:00Z, or none', parseTimeOrNone);
}

/** The parsed options of `create` and `update`. Options that were not given are absent. */
type TicketOptions = { active?: true; inactive?: true; saleStarts?: Edge; saleEnds?: Edge; by?: string };
type Edge = Date | 'none';

/** Returns what was given, as the actions want it. Partners see an author that is named, never an operator's account. */
export function settingsIn<Given extends TicketOptions>(options: Given) {
  const { active, inactive, saleStarts, saleEnds, by, ...others } = options;
  return {
    ...others,
    ...((active || inactive) && { active: !inactive }),
    ...given({ saleStartsAt: saleStarts, saleEndsAt: saleEnds }),
    ...(by !== undefined && { lastModifiedBy: by }),
  };
}

function answerOf(ticket: DescribedTicket): Answer {
  const { id, ...others } = fieldsOf(ticket);
  return { document: ticket, text: record({ 'ticket id': id, ...others }) };
}

/** The text output of a ticket. */
function fieldsOf(ticket: DescribedTicket) {
  const { id, title, price, active, capacity, taken, left } = ticket;
  return { id, title, price: price.toFixed(2), active, capacity, taken, left, 'on sale': windowOf(ticket) };
}

/** A sales window in words. */
export function windowOf(window: Pick<DescribedTicket, 'saleStartsAt' | 'saleEndsAt'>): string {
  const from = window.saleStartsAt && `from ${timeText(window.saleStartsAt)}`;
  const until = window.saleEndsAt && `until ${timeText(window.saleEndsAt)}`;
  return [from, until].filter(Boolean).join(' ') || 'any time';
}
