import { Option, type Command } from 'commander';
import { createTicket, listTickets, updateTicket, type TicketRow, type TicketSettings } from './tickets.ts';
import { listEvents } from '@floodgate/events';
import { type Database } from '@floodgate/database';
import {
  answeringFromDatabase,
  parseBenefits,
  parseCapacity,
  parseId,
  parseName,
  parsePrice,
  parseSaleTime,
  type Cli,
  Failure,
  InputError,
  record,
  table,
  timeText,
} from '@floodgate/command';

/** The options of `create` and `update`, as parsed. */
interface TicketOptions {
  title?: string;
  capacity?: number;
  price?: number;
  benefits?: string;
  active?: true;
  inactive?: true;
  saleStarts?: Date | 'none';
  saleEnds?: Date | 'none';
  by: string;
}

/** `floodgate ticket …` */
export function addTicketCommands(program: Command, cli: Cli): void {
  const ticket = program.command('ticket').description("an event's tickets");
  addCreate(ticket, cli);
  addUpdate(ticket, cli);
  addList(ticket, cli);
}

function addCreate(ticket: Command, cli: Cli): void {
  const create = ticket
    .command('create')
    .description('add a ticket to an event')
    .argument('<eventId>', 'the event', parseId)
    .requiredOption('--title <title>', 'its title', parseName)
    .requiredOption('--capacity <seats>', 'how many seats it has', parseCapacity);
  addSharedOptions(create);
  type Options = TicketOptions & { title: string; capacity: number };
  answeringFromDatabase(create, cli, async (db, options: Options, eventId: number) => {
    const { title, capacity } = options;
    return answerOf(await createTicket(db, eventId, { ...settingsOf(options), title, capacity }, options.by));
  });
}

function addUpdate(ticket: Command, cli: Cli): void {
  const update = ticket
    .command('update')
    .description('change what is given of a ticket, and leave the rest')
    .argument('<ticketId>', 'the ticket', parseId)
    .option('--title <title>', 'its title', parseName)
    .option('--capacity <seats>', 'how many seats it has; not less than are taken', parseCapacity)
    .addOption(new Option('--active', 'put it on sale').conflicts('inactive'));
  addSharedOptions(update);
  answeringFromDatabase(update, cli, async (db, options: TicketOptions, ticketId: number) => {
    const settings = settingsOf(options);
    if (Object.keys(settings).length === 0)
      throw new InputError('nothing to change; give at least one option');
    const updated = await updateTicket(db, ticketId, settings, options.by);
    if (!updated) throw new Failure('no such ticket');
    return answerOf(updated);
  });
}

function addSharedOptions(command: Command): void {
  command
    .option('--price <amount>', 'its price, e.g. 12.50', parsePrice)
    .option('--benefits <text>', 'what it comes with', parseBenefits)
    .option('--inactive', 'keep it off sale')
    .option('--sale-starts <time>', 'e.g. 2026-11-21T09:00:00+01:00, or none', parseSaleTime)
    .option('--sale-ends <time>', 'e.g. 2026-12-01T00:00:00Z, or none', parseSaleTime)
    .option('--by <author>', 'who is noted as the author', parseName, 'operator');
}

/** What was given, and nothing else: an absent setting is left as it is. */
export function settingsOf(options: Partial<TicketOptions>): Partial<TicketSettings> {
  const { title, capacity, price, benefits, active, inactive, saleStarts, saleEnds } = options;
  return {
    ...(title !== undefined && { title }),
    ...(capacity !== undefined && { capacity }),
    ...(price !== undefined && { price }),
    ...(benefits !== undefined && { benefits }),
    ...((active || inactive) && { active: !inactive }),
    ...(saleStarts !== undefined && { saleStartsAt: edgeOf(saleStarts) }),
    ...(saleEnds !== undefined && { saleEndsAt: edgeOf(saleEnds) }),
  };
}

function edgeOf(time: Date | 'none'): Date | null {
  return time === 'none' ? null : time;
}

function addList(ticket: Command, cli: Cli): void {
  const list = ticket
    .command('list')
    .description('list the tickets of an event, on sale or not')
    .argument('<eventId>', 'the event', parseId);
  answeringFromDatabase(list, cli, async (db, _options: object, eventId: number) => {
    const tickets = (await findTickets(db, eventId)).map(describe);
    const rows = tickets.map((row) => [
      row.id,
      row.title,
      row.price.toFixed(2),
      row.active,
      row.capacity,
      row.taken,
      row.left,
      windowOf(row),
    ]);
    const headings = ['id', 'title', 'price', 'active', 'capacity', 'taken', 'left', 'on sale'];
    return { document: tickets, text: table(headings, rows) };
  });
}

async function findTickets(db: Database, eventId: number): Promise<TicketRow[]> {
  const tickets = await listTickets(db, eventId);
  if (tickets.length > 0) return tickets;
  const events = await listEvents(db);
  if (!events.some((event) => event.id === eventId)) throw new Failure('no such event');
  return tickets;
}

function describe(row: TicketRow) {
  return {
    id: row.id,
    eventId: row.event_id,
    title: row.title,
    price: row.price,
    benefits: row.benefits,
    active: row.active,
    capacity: row.capacity,
    taken: row.taken,
    left: row.capacity - row.taken,
    saleStartsAt: row.sale_starts_at,
    saleEndsAt: row.sale_ends_at,
    createdAt: row.created_at,
    lastModifiedAt: row.last_modified_at,
    lastModifiedBy: row.last_modified_by,
  };
}

function answerOf(row: TicketRow) {
  const document = describe(row);
  const { id, title, price, active, capacity, taken, left } = document;
  const fields = { 'ticket id': id, title, price: price.toFixed(2), active, capacity, taken, left };
  return { document, text: record({ ...fields, 'on sale': windowOf(document) }) };
}

/** A sales window in words. */
export function windowOf({
  saleStartsAt,
  saleEndsAt,
}: Pick<TicketSettings, 'saleStartsAt' | 'saleEndsAt'>): string {
  const from = saleStartsAt && `from ${timeText(saleStartsAt)}`;
  const until = saleEndsAt && `until ${timeText(saleEndsAt)}`;
  return [from, until].filter(Boolean).join(' ') || 'any time';
}
