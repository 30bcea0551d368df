import type { Database } from '@floodgate/database';
import { NotFound } from '@floodgate/service/failure';
import { assertFields } from '@floodgate/service/load-config';
import { Type, type TObject } from '@sinclair/typebox';
import type { Caller, Need } from './caller.ts';
import { eventsWith, mayUse, mayUseFor, mayUseSomewhere } from './roles.ts';
import type { OperatorPrincipal, Scope } from './roles.ts';

// The check before each operation, for all callers: the operator API, forms, pages and streams. The fields of
// its input say to which event an operation belongs, so a new operation is limited without any code.

/** A field of inputs that names something of an event. */
export interface EventField {
  /** The answer if there is no such thing. It is also that for a thing of a foreign event. */
  missing: string;
  /** Returns the events of what a value names. Empty: there is no such thing. */
  find: (db: Database, value: unknown) => Promise<readonly number[]>;
  /** An input in which the field is optional gives a new thing this id, so the field names nothing yet. */
  isNewIfOptional?: boolean;
}

export type EventFields = Readonly<Record<string, EventField>>;

/** The caller lacks a scope for what an operation belongs to. */
export class Forbidden extends Error {
  override name = 'Forbidden';

  constructor(scope: Scope, forAllEvents = false) {
    super(`It requires ${scope}${forAllEvents ? ' for all events' : ''}.`);
  }
}

/** Returns an operator as the caller of operations. `fields` finds the events of what inputs name. */
export function callerOf(operator: OperatorPrincipal, fields: EventFields): Caller {
  const whole: Caller = {
    name: operator.name,
    may: (scope) => mayUse(operator, scope),
    events: undefined,
    admit: async (db, need, given) => {
      if (!mayUseSomewhere(operator, need.scope)) throw new Forbidden(need.scope);
      if (operator.eventScopes.size === 0) return whole;
      const named = await findNamed(db, fields, need, given);
      if (named.length > 0) return { ...whole, ...admitToEvents(operator, need.scope, named) };
      if (mayUse(operator, need.scope)) return whole;
      if (!need.isList) throw new Forbidden(need.scope, true);
      const events = eventsWith(operator, need.scope)!;
      return { ...whole, events, may: (scope) => mayUseForAll(operator, scope, events) };
    },
  };
  return whole;
}

/** The events of the thing that a field of an input names. */
interface Named {
  missing: string;
  events: readonly number[];
}

/** Returns the fields of an input that name something of an event: those that are given or required. */
const eventFieldsIn = (fields: EventFields, { properties, required = [] }: TObject, given: object) =>
  Object.keys(properties)
    .filter((name) => Object.hasOwn(fields, name))
    .filter((name) => required.includes(name) || !fields[name]!.isNewIfOptional)
    .filter((name) => required.includes(name) || Reflect.get(given, name) !== undefined);

function findNamed(db: Database, fields: EventFields, { input }: Need, given: object): Promise<Named[]> {
  const names = eventFieldsIn(fields, input, given);
  // A value that no such thing can have must not reach Postgres. The operation would refuse it as well.
  assertFields(Type.Pick(input, names), given);
  return Promise.all(
    names.map(async (name) => {
      const { missing, find } = fields[name]!;
      return { missing, events: await find(db, Reflect.get(given, name)) };
    }),
  );
}

/**
 * Throws NotFound for things that do not exist, and for those of events of which the operator may see nothing,
 * alike.
 */
function admitToEvents(operator: OperatorPrincipal, scope: Scope, named: readonly Named[]) {
  const seesAll = operator.scopes.length > 0;
  for (const { missing, events } of named) {
    const isSeen = events.length > 0 && events.every((id) => operator.eventScopes.has(id));
    if (!isSeen && !seesAll) throw new NotFound(missing);
  }
  const all = named.flatMap(({ events }) => events);
  if (!mayUseForAll(operator, scope, all)) throw new Forbidden(scope);
  return {
    events: eventsWith(operator, scope),
    may: (other: Scope) => mayUseForAll(operator, other, all),
  };
}

/** Without an event, only a scope for all events counts. */
const mayUseForAll = (operator: OperatorPrincipal, scope: Scope, events: readonly number[]) =>
  mayUse(operator, scope) || (events.length > 0 && events.every((id) => mayUseFor(operator, scope, id)));
