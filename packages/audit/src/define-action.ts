import type { Static, TObject } from '@sinclair/typebox';
import type { AuditedState, Database } from '@floodgate/database';

/** What became of one thing. Never a secret or its hash, and nothing of an attendee's. */
export interface Change {
  /** The kind and the id, as in "ticket:7". */
  subject: string;
  /** Absent: it was not there. */
  before?: AuditedState;
  after?: AuditedState;
}

/** Has a change of the subject noted. */
export type Note = (subject: string, change: Omit<Change, 'subject'>) => void;

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
export function defineAction<Input extends TObject, Result>(
  action: Action<Input, Result>,
): Action<Input, Result> {
  return action;
}
