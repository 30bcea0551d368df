import { Type, type Static, type TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { Failure, InvalidInput, sqlStateOf } from '@floodgate/service/failure';
import { wrongFields } from '@floodgate/service/load-config';
import { insertAuditEntries, type Change } from './audit-log.ts';

// What fields of actions have in common. The description is the rule that whoever breaks it reads.

const INT4_MAX = 2_147_483_647;

/** A whole number within bounds. */
export const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

/** Text of so many Unicode characters, as Postgres counts them, that neither begins nor ends with a space. */
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

/** Has a change of the subject noted. */
type Note = (subject: string, change: Omit<Change, 'subject'>) => void;

/** Something that an operator can do, whichever way they ask for it. */
export interface Action<Input extends TObject, Result> {
  /** As the audit log has it: "ticket.update". */
  name: string;
  /** Every field describes its rule. */
  input: Input;
  /** Returns what a schema cannot say: the fields that are wrong, each with its rule. */
  check?: (input: Static<Input>) => Record<string, string>;
  /** What it means to an operator when one of these constraints is violated. */
  refusals?: Record<string, string>;
  /** Throws Failure where it cannot be done. Notes nothing where everything was so already. */
  run: (transaction: Database, input: Static<Input>, note: Note) => Promise<Result>;
}

/** Returns the action as it is, with the types of its input and result. */
export const defineAction = <Input extends TObject, Result>(action: Action<Input, Result>) => action;

const Signature = Type.Object({ by: Name });

/**
 * Does what an operator asks for and notes who did it, both or neither: in a transaction of its own, or in `db` where
 * that is one. Returns the action's result. Throws InvalidInput before anything is sent to Postgres, and Failure where
 * it cannot be done.
 */
export async function perform<Input extends TObject, Result>(
  db: Database,
  action: Action<Input, Result>,
  input: Static<Input>,
  actor: string,
): Promise<Result> {
  // Fields that nobody checks reach no statement.
  const known = Value.Clean(action.input, { ...input }) as Static<Input>;
  assertValid(action, known, actor);
  const acted = inTransaction(db, async (transaction) => {
    const changes: Change[] = [];
    const note: Note = (subject, change) => changes.push({ subject, ...change });
    const result = await action.run(transaction, known, note);
    await insertAuditEntries(transaction, actor, action.name, changes);
    return result;
  });
  return acted.catch((error: Error & { constraint?: string }) => {
    const reason = refusalOf(error, action.refusals ?? {});
    throw reason === undefined ? error : new Failure(reason, { cause: error });
  });
}

/** Returns what a violated constraint means to an operator, where somebody has said it. */
function refusalOf(error: Error & { constraint?: string }, refusals: Record<string, string>) {
  // Citus passes the message on and not the constraint, to whose name the servers behind it may add a number.
  const names =
    error.constraint === undefined && sqlStateOf(error)?.startsWith('23') ? error.message : error.constraint;
  const violated = (name: string) => new RegExp(`(?<!\\w)${name}(_\\d+)?(?!\\w)`).test(names ?? '');
  return Object.entries(refusals).find(([name]) => violated(name))?.[1];
}

/** Throws InvalidInput where the action cannot be performed with this. Asks nobody. */
export function assertValid<Input extends TObject>(
  action: Action<Input, unknown>,
  input: Static<Input>,
  by: string,
) {
  const wrong = { ...wrongFields(action.input, input), ...wrongFields(Signature, { by }) };
  // A check reads fields that are right each by itself.
  const rules = Object.keys(wrong).length === 0 ? (action.check?.(input) ?? {}) : wrong;
  if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
}
