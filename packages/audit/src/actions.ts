import { Type, type Static, type TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import { wrongFields } from '@floodgate/service/load-config';
import { insertAuditEntries, type Change } from './audit-log.ts';

// Fields that actions have in common. A description is the rule that the error message shows.

const INT4_MAX = 2_147_483_647;

/** A whole number within bounds. */
export const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

/** Text without a space at either end. The limits count Unicode characters, as Postgres does. */
export const text = (minimum: number, maximum: number) =>
  Type.RegExp(new RegExp(`^(?!\\s)[^\\p{Cc}\\p{Cs}]{${minimum},${maximum}}(?<!\\s)$`, 'u'), {
    description: `${minimum} to ${maximum} characters, no control characters, no space around them`,
  });

/** The id of a partner, event or ticket. */
export const Id = whole(1, INT4_MAX);
export const Seats = whole(0, INT4_MAX);
/** A name or title. */
export const Name = text(1, 255);

/** An instant, or null for none. */
export const instantOrNull = (description: string) => Type.Union([Type.Date(), Type.Null()], { description });

/** A partner acts on what belongs to it under one event. The principal of a request is one. */
export interface PartnerActor {
  kind: 'partner';
  shardId: number;
  eventId: number;
  partnerId: number;
}

/** The actor of an action: an operator, by name, or a partner. */
export type Actor = string | PartnerActor;

/** Records a change of the subject in the audit log. */
export type Note = (subject: string, change: Omit<Change, 'subject'>) => void;

/** One operation, declared once. Routes, commands and forms are adapters of it. */
export interface Action<Input extends TObject, Result> {
  /** Its name in the audit log: "ticket.update". */
  name: string;
  /** Every field describes its rule. */
  input: Input;
  /** Returns the fields that break a rule which a schema cannot express, each with that rule. */
  check?: (input: Static<Input>) => Record<string, string>;
  /** The message for an operator if one of these constraints is violated. */
  refusals?: Record<string, string>;
  /** Throws Failure if the action is impossible. Records nothing if nothing changes. */
  run: (transaction: Database, input: Static<Input>, note: Note, actor: Actor) => Promise<Result>;
}

/** Returns the action as it is, with the types of its input and result. */
export const defineAction = <Input extends TObject, Result>(action: Action<Input, Result>) => action;

// The log has partners as "partner:7", so no operator may have such a name.
const Operator = Type.Object({
  by: Type.RegExp(/^(?!partner:|device:)(?!\s)[^\p{Cc}\p{Cs}]{1,255}(?<!\s)$/u, {
    description: `${Name.description!}, and neither partner: nor device: at the start`,
  }),
});

/**
 * Performs the action and records who did it, in one transaction. If `db` is a transaction, it is used. Returns the action's
 * result. Throws InvalidInput before any statement is sent, and Failure if the action is impossible.
 */
export async function perform<Input extends TObject, Result>(
  db: Database,
  action: Action<Input, Result>,
  input: Static<Input>,
  actor: Actor,
): Promise<Result> {
  // Fields that nobody validates reach no statement.
  const known = Value.Clean(action.input, { ...input }) as Static<Input>;
  assertValid(action, known, actor);
  const acted = inTransaction(db, async (transaction) => {
    const changes: Change[] = [];
    const note: Note = (subject, change) => changes.push({ subject, ...change });
    const result = await action.run(transaction, known, note, actor);
    await insertAuditEntries(transaction, actor, action.name, changes);
    return result;
  });
  return acted.catch((error: Error & { constraint?: string }) => {
    const reason = action.refusals?.[error.constraint ?? ''];
    throw reason === undefined ? error : new Failure(reason, { cause: error });
  });
}

/** Throws InvalidInput if the action cannot be performed with this input. Sends no statement. */
export function assertValid<Input extends TObject>(
  action: Action<Input, unknown>,
  input: Static<Input>,
  actor: Actor,
) {
  const byWhom = typeof actor === 'string' ? wrongFields(Operator, { by: actor }) : {};
  const wrong = { ...wrongFields(action.input, input), ...byWhom };
  // A check reads fields that are valid each by itself.
  const rules = Object.keys(wrong).length === 0 ? (action.check?.(input) ?? {}) : wrong;
  if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
}
