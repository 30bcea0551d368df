import { Type, type Static, type TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parseMaskedReference } from '@floodgate/contract';
import { inTransaction, type Database } from '@floodgate/database/connection/connect';
import { Failure, InvalidInput, NotFound, sqlStateOf } from '@floodgate/service/failure';
import { assertFields, wrongFields } from '@floodgate/service/load-config';
import { insertAuditEntries, type Change } from './audit-log.ts';

// Fields that actions share. Error messages show the description as the rule.

/** Citus appends the number of the shard to the name of a constraint. */
const SHARD = /_\d+$/;
const FOREIGN_KEY_VIOLATION = '23503';

const INT4_MAX = 2_147_483_647;

/** A whole number within bounds. */
export const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

/** Text without a space at either end. Its limits are in Unicode characters, as in Postgres. */
export const text = (minimum: number, maximum: number) =>
  Type.RegExp(new RegExp(`^(?!\\s)[^\\p{Cc}\\p{Cs}]{${minimum},${maximum}}(?<!\\s)$`, 'u'), {
    description: `${minimum} to ${maximum} characters, no control characters, no space around them`,
  });

/** One of these words. */
export const oneOf = <Word extends string>(words: readonly Word[], description = words.join(', ')) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  );

/** The id of a partner, event or ticket. */
export const Id = whole(1, INT4_MAX);
export const Seats = Type.Integer({
  minimum: 0,
  maximum: INT4_MAX,
  description: `a whole number from 0 to ${INT4_MAX}, such as 5000`,
});
/** A name or title. */
export const Name = text(1, 255);
export const Flag = Type.Boolean({ description: 'true or false' });
/** Where a list continues, and how much of it is returned. */
export const Cursor = Type.Optional(whole(0, Number.MAX_SAFE_INTEGER));
export const Limit = Type.Optional(whole(1, 100_000));

/** An instant, or null for none. */
export const instantOrNull = (description: string) => Type.Union([Type.Date(), Type.Null()], { description });

/** A partner that acts on its own things under one event, such as the principal of a request. */
export interface PartnerActor {
  kind: 'partner';
  shardId: number;
  eventId: number;
  partnerId: number;
}

/** The actor of an action: the name of an operator, or a partner. */
export type Actor = string | PartnerActor;

/** Records a change of the subject in the audit log. */
export type Note = (subject: string, change: Omit<Change, 'subject'>) => void;

/** One operation, declared once for routes, commands and forms. */
export interface Action<Input extends TObject, Result> {
  /** Its name in the audit log: "ticket.update". */
  name: string;
  /** Every field describes its rule. */
  input: Input;
  /** Returns the input as it is stored, before it is checked: each field can be anything. */
  prepare?: (given: Record<string, unknown>) => Record<string, unknown>;
  /** Returns the fields that break a rule that the schema cannot express, each with its rule. */
  check?: (input: Static<Input>) => Record<string, string>;
  /** Messages for the operator, by the constraint that Postgres reports as violated. */
  refusals?: Record<string, string>;
  /** Performs the action, and records changes only. Throws Failure if it is impossible. */
  run: (transaction: Database, input: Static<Input>, note: Note, actor: Actor) => Promise<Result>;
}

/** Returns the action itself, with inferred types of input and result. */
export const defineAction = <Input extends TObject, Result>(action: Action<Input, Result>) => action;

// The log names a partner "partner:7", so an operator must not have such a name.
const Operator = Type.Object({
  by: Type.RegExp(/^(?!partner:|device:)(?!\s)[^\p{Cc}\p{Cs}]{1,255}(?<!\s)$/u, {
    description: `${Name.description!}, and neither partner: nor device: at the start`,
  }),
});

/**
 * Performs the action and records its changes with the actor, in one transaction (`db` itself if it is one).
 * Returns the action's result. Throws InvalidInput before it sends a statement, and Failure if the action is
 * impossible.
 */
export const perform = <Input extends TObject, Result>(
  db: Database,
  action: Action<Input, Result>,
  input: Static<Input>,
  actor: Actor,
) => performGiven(db, action, input, actor);

/** Like `perform`, with input from outside, which can be anything. */
export async function performGiven<Input extends TObject, Result>(
  db: Database,
  action: Action<Input, Result>,
  given: object,
  actor: Actor,
) {
  const fields: Record<string, unknown> = { ...given };
  // Removes those that the schema does not validate.
  Value.Clean(action.input, fields);
  const known = action.prepare?.(fields) ?? fields;
  assertValid(action, known, actor);
  const acted = inTransaction(db, async (transaction) => {
    const changes: Change[] = [];
    const note: Note = (subject, change) => changes.push({ subject, ...change });
    const result = await action.run(transaction, known, note, actor);
    await insertAuditEntries(transaction, actor, action.name, changes, eventOf(known, actor));
    return result;
  });
  return acted.catch((error: Error & { constraint?: string }) => {
    const reason = action.refusals?.[error.constraint?.replace(SHARD, '') ?? ''];
    if (reason === undefined) throw error;
    const Reason = sqlStateOf(error) === FOREIGN_KEY_VIOLATION ? NotFound : Failure;
    throw new Reason(reason, { cause: error });
  });
}

/** Returns the event that a partner or an input names. Other actions name it in their notes. */
function eventOf({ eventId, passReference }: Record<string, unknown>, actor: Actor) {
  if (typeof actor !== 'string') return actor.eventId;
  if (typeof eventId === 'number') return eventId;
  return typeof passReference === 'string' ? parseMaskedReference(passReference)?.eventId : undefined;
}

/** Throws InvalidInput if the input or the actor breaks a rule. Sends no statement. */
export function assertValid<Input extends TObject>(
  action: Pick<Action<Input, unknown>, 'input' | 'check'>,
  input: unknown,
  actor: Actor,
): asserts input is Static<Input> {
  assertFields(action.input, input, typeof actor === 'string' ? wrongFields(Operator, { by: actor }) : {});
  // A check requires that each field is valid.
  const rules = action.check?.(input) ?? {};
  if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
}
