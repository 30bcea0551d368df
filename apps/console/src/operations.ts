import type { Query } from '@floodgate/operators';
import { inputOf, valueOf } from '@floodgate/audit/input';
import type { Database } from '@floodgate/database';
import { doorOperations } from '@floodgate/door/console';
import { eventOperations } from '@floodgate/events/console';
import { mailOperations } from '@floodgate/mail/console';
import { mayUse, NOBODY, type Caller, type OperatorPrincipal } from '@floodgate/operators';
import { operatorOperations } from '@floodgate/operators/console';
import { partnerOperations } from '@floodgate/partners/console';
import { passOperations } from '@floodgate/passes/console';
import { guestOperations, queueOperations, registrationOperations } from '@floodgate/registrations/console';
import type { Logger } from '@floodgate/service';
import { ticketOperations } from '@floodgate/tickets/console';
import { waitingListOperations } from '@floodgate/waiting-list/console';
import { webhookOperations } from '@floodgate/webhooks/console';
import type { Static, TObject } from '@sinclair/typebox';
import type { ConsoleConfig } from './config.ts';
import type { Cookies } from './cookies.ts';
import type { Provider } from './identity-provider.ts';

/** Returns every operation of the operator API and the console, in the order of the documentation. */
export const operationsOf = (config: ConsoleConfig) => ({
  ...eventOperations,
  ...ticketOperations,
  ...waitingListOperations,
  ...registrationOperations,
  ...guestOperations,
  ...partnerOperations,
  ...webhookOperations(config.WEBHOOK_ALLOW_PRIVATE === 'true'),
  ...mailOperations(config),
  ...passOperations,
  ...doorOperations,
  ...queueOperations,
  ...operatorOperations,
});

/** Every operation. Inferred, because each has its own types of input and result. */
export type Operations = ReturnType<typeof operationsOf>;

/** The dependencies of the routes. */
export interface ConsoleContext {
  db: Database;
  log: Logger;
  operations: Operations;
  provider: Provider | undefined;
  cookies: Cookies;
}

/** The fields of an operation, from a page: values, or texts that stand for them. */
export type Filled<Input extends TObject> = {
  [Field in keyof Static<Input>]:
    Static<Input>[Field] | string | (object extends Pick<Static<Input>, Field> ? undefined : never);
};

/** Returns the input in the fields of a form or a page. Empty fields are absent. */
export function filledInput<Input extends TObject>(input: Input, given: object) {
  const fields = new Map(Object.entries<unknown>({ ...given }));
  return inputOf(input, (field, rule) => {
    const value = fields.get(field);
    return value === '' ? undefined : valueOf(rule, value);
  });
}

export const callerOf = (operator: OperatorPrincipal): Caller => ({
  name: operator.name,
  may: (scope) => mayUse(operator, scope),
});

/** Reads by an operation. By default for nobody in particular: viewers of one page share what it shows. */
export const readBy = <Input extends TObject, Result>(
  { db }: ConsoleContext,
  operation: Query<Input, Result>,
  given: Filled<Input>,
  caller = NOBODY,
) => operation.run(db, filledInput(operation.input, given), caller);
