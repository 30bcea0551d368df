import { assertValid, type Action } from '@floodgate/audit';
import { inTransaction } from '@floodgate/database';
import {
  assertPrice,
  createEventAction,
  isCurrency,
  updateEventAction,
  type Event,
} from '@floodgate/events/console';
import { InvalidInput } from '@floodgate/service';
import { createTicketAction } from '@floodgate/tickets/console';
import type { Operation } from '@floodgate/operators';
import type { TObject, TSchema } from '@sinclair/typebox';
import type { PageRequest } from '../add-page.ts';
import { meantText } from '../forms/changed-fields.ts';
import { callerOf, filledInput, type ConsoleContext } from '../operations.ts';
import type { Language } from '../view/format.ts';
import type { Texts } from '../view/html.ts';

/** Fields of a ticket in the form of a new event. Each has the number of its row before its name: "t1.title". */
export const TICKET_FIELDS = ['title', 'capacity', 'price', 'saleStartsAt', 'saleEndsAt'] as const;
export const ticketField = (row: number, field: (typeof TICKET_FIELDS)[number]) => `t${row}.${field}`;

const EVENT_FIELDS = ['name', 'mode', 'duplicatePolicy', 'currency'] as const;
const DETAIL_FIELDS = ['venue', 'startsAt', 'endsAt', 'timeZone', 'language', 'replyTo'] as const;

/** The rules of all fields, by their name. */
const RULES = new Map<string, TSchema>(
  [createEventAction, updateEventAction, createTicketAction].flatMap(({ input }) =>
    Object.entries<TSchema>(input.properties),
  ),
);

/** An event with its tickets and partners, as somebody typed it. */
interface Plan {
  event: Texts;
  details: Texts;
  tickets: { row: number; fields: Texts }[];
  partnerIds: string[];
  sendsMail: boolean;
}

/** Ids of things that are not there yet, while what was typed is checked. */
const ANY_ID = '1';

/** Returns how many rows of tickets a form has. */
export const rowsOf = (given: Texts) => Math.min(MOST_ROWS, Math.max(FIRST_ROWS, Number(given['rows']) || 0));
const FIRST_ROWS = 3;
const MOST_ROWS = 60;
export const MORE_ROWS = 3;

/** Returns the plan in the fields of a form. A row without a text is no ticket. */
function planOf(given: Texts, language: Language): Plan {
  const zone = given['timeZone'] || 'UTC';
  const textOf = (field: string, name: string) => {
    const text = (given[name] ?? '').trim();
    const rule = RULES.get(field);
    return rule ? meantText(rule, text, { language, zone }) : text;
  };
  const pick = (fields: readonly string[], nameOf = (field: string) => field): Texts =>
    Object.fromEntries(fields.map((field) => [field, textOf(field, nameOf(field))]));
  const rows = Array.from({ length: rowsOf(given) }, (_, index) => index + 1);
  const tickets = rows.map((row) => ({ row, fields: pick(TICKET_FIELDS, (field) => `t${row}.${field}`) }));
  const { name = '', currency = '', ...rest } = pick(EVENT_FIELDS);
  const passPrefix = (given['passPrefix'] || prefixOf(name)).toUpperCase();
  return {
    event: { ...rest, name, currency: currency.toUpperCase(), passPrefix },
    details: {
      ...pick(DETAIL_FIELDS),
      mailOperatorCancels: String(given['mailOperatorCancels'] === 'true'),
      mailPartnerCancels: String(given['mailPartnerCancels'] === 'true'),
    },
    tickets: tickets.filter(({ fields }) => Object.values(fields).some(Boolean)),
    partnerIds: (given['partnerIds'] ?? '').split(',').filter(Boolean),
    sendsMail: given['sendsMail'] === 'true',
  };
}

const MOST_LETTERS = 8;

/** Returns the prefix of passes of an event of which nobody chose one: the first letters of its name. */
export function prefixOf(name: string) {
  const letters = name
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .replace(/^\d+/, '');
  return letters.length < 2 ? 'EVENT' : letters.slice(0, MOST_LETTERS);
}

/**
 * Makes the event that somebody typed, with its tickets, partners and e-mails: all of it, or nothing. Resolves to
 * the event. Throws InvalidInput with every field that breaks a rule, by its name in the form.
 */
export async function createPlanned(
  { db, operations }: ConsoleContext,
  { operator, words, format }: PageRequest,
  given: Texts,
) {
  const plan = planOf(given, format.language);
  const invalid = rulesOf(plan, operator.name);
  const { startsAt, endsAt } = plan.details;
  if (startsAt && endsAt && startsAt >= endsAt) invalid['endsAt'] ??= words.newEvent.order;
  if (Object.keys(invalid).length > 0) throw new InvalidInput(invalid);
  const caller = callerOf(operator);
  return inTransaction(db, async (tx): Promise<Event> => {
    const event = await operations.eventCreate.run(
      tx,
      filledInput(operations.eventCreate.input, plan.event),
      caller,
    );
    const eventId = String(event.id);
    const run = (operation: Operation, fields: Texts) =>
      operation.run(tx, filledInput(operation.input, { eventId, ...fields }), caller);
    await run(operations.eventUpdate, plan.details);
    for (const { fields } of plan.tickets) await run(operations.ticketCreate, fields);
    for (const partnerId of plan.partnerIds) await run(operations.eventGrant, { partnerId });
    if (plan.sendsMail) await run(operations.mailEnable, {});
    return event;
  });
}

/** Returns every rule that a plan breaks, by the name of the field in the form. */
function rulesOf({ event, details, tickets }: Plan, actor: string): Texts {
  const { currency = '' } = event;
  return Object.assign(
    {},
    brokenBy(createEventAction, event, actor),
    brokenBy(updateEventAction, { eventId: ANY_ID, ...details }, actor),
    ...tickets.map(({ row, fields }) => {
      const broken = brokenBy(createTicketAction, { eventId: ANY_ID, ...fields }, actor, () =>
        assertPrice(Number(fields['price'] || 0), isCurrency(currency) ? currency : null),
      );
      return Object.fromEntries(Object.entries(broken).map(([field, rule]) => [`t${row}.${field}`, rule]));
    }),
  ) as Texts;
}

/** Returns the rules of an action that its input breaks. `check` is for what needs more than the action knows. */
function brokenBy<Input extends TObject, Result>(
  action: Action<Input, Result>,
  given: Texts,
  actor: string,
  check = () => {},
): Texts {
  const fields: Record<string, unknown> = filledInput(action.input, given);
  const assertFields = () => assertValid(action, action.prepare?.(fields) ?? fields, actor);
  return { ...rulesThrownBy(check), ...rulesThrownBy(assertFields) };
}

function rulesThrownBy(check: () => void): Texts {
  try {
    check();
    return {};
  } catch (error) {
    if (error instanceof InvalidInput) return error.rules;
    throw error;
  }
}
