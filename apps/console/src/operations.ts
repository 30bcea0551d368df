import type { Database } from '@floodgate/database';
import { doorOperations } from '@floodgate/door/console';
import { eventOperations } from '@floodgate/events/console';
import { mailOperations } from '@floodgate/mail/console';
import { mayUse, valueOf, type Operation, type OperatorPrincipal } from '@floodgate/operators';
import { operatorOperations } from '@floodgate/operators/console';
import { partnerOperations } from '@floodgate/partners/console';
import { passOperations } from '@floodgate/passes/console';
import { queueOperations, registrationOperations } from '@floodgate/registrations/console';
import type { Logger } from '@floodgate/service';
import { ticketOperations } from '@floodgate/tickets/console';
import { waitingListOperations } from '@floodgate/waiting-list/console';
import { webhookOperations } from '@floodgate/webhooks/console';
import type { ConsoleConfig } from './config.ts';
import type { Cookies } from './cookies.ts';
import type { Provider } from './identity-provider.ts';

/** Every operation of the operator API and the console by its id, in the order of the documentation. */
export function operationsOf(config: ConsoleConfig): ReadonlyMap<string, Operation> {
  const operations: Operation[] = [
    ...eventOperations,
    ...ticketOperations,
    ...waitingListOperations,
    ...registrationOperations,
    ...partnerOperations,
    ...webhookOperations(config.WEBHOOK_ALLOW_PRIVATE === 'true'),
    ...mailOperations(config),
    ...passOperations,
    ...doorOperations,
    ...queueOperations,
    ...operatorOperations,
  ];
  return new Map(operations.map((operation) => [operation.id, operation]));
}

/** The dependencies of the routes. */
export interface ConsoleContext {
  db: Database;
  log: Logger;
  operations: ReturnType<typeof operationsOf>;
  provider: Provider | undefined;
  cookies: Cookies;
}

/** Returns the input of an operation: the fields that are filled. A text becomes the value that it stands for. */
export function inputFrom({ input: { properties } }: Operation, given: object) {
  const filled = Object.entries<unknown>({ ...given }).filter(
    ([name, value]) => Object.hasOwn(properties, name) && (value ?? '') !== '',
  );
  return Object.fromEntries(filled.map(([name, value]) => [name, valueOf(properties[name]!, value)]));
}

/** Runs an operation for the operator. */
export const runFor = (
  { db }: ConsoleContext,
  operation: Operation,
  given: Record<string, unknown>,
  operator: OperatorPrincipal,
) => operation.run(db, given, operator.name, (scope) => mayUse(operator, scope));

/** Viewers share what a page shows, so it has no more than each of them may see. */
const ANYBODY: OperatorPrincipal = { accessId: '', name: '', role: null, scopes: [] };

/** Reads by an operation. */
export async function readBy<Result>(
  context: ConsoleContext,
  id: string,
  given: object = {},
  operator = ANYBODY,
) {
  const operation = context.operations.get(id)!;
  return (await runFor(context, operation, inputFrom(operation, given), operator)) as Result;
}
