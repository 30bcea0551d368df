import { Type, type Static, type TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import { wrongFields } from '@floodgate/service/load-config';
import type { Action, Change, Note } from './define-action.ts';
import { Name } from './fields.ts';
import { insertAuditEntries } from './insert-audit-entries.ts';

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
    const reason = action.refusals?.[error.constraint ?? ''];
    throw reason === undefined ? error : new Failure(reason, { cause: error });
  });
}

function assertValid<Input extends TObject>(
  { input: schema, check }: Action<Input, unknown>,
  input: Static<Input>,
  actor: string,
): void {
  const wrong = { ...wrongFields(schema, input), ...wrongFields(Signature, { by: actor }) };
  // A check reads fields that are right each by itself.
  const rules = Object.entries(Object.keys(wrong).length === 0 ? (check?.(input) ?? {}) : wrong);
  if (rules.length > 0) throw new InvalidInput(rules.map(([name, rule]) => `${name}: ${rule}`).join('; '));
}
