import type { Query } from '@floodgate/operators';
import { Id, text } from '@floodgate/audit';
import { inputOf, valueOf } from '@floodgate/audit/input';
import { WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { doorOperations } from '@floodgate/door/console';
import { eventOperations } from '@floodgate/events/console';
import { JobId, jobOperations } from '@floodgate/jobs/console';
import { mailOperations } from '@floodgate/mail/console';
import { callerOf as callerWith, mayUse, mayUseSomewhere } from '@floodgate/operators';
import type { Caller, Need, OperatorPrincipal, Scope, SignIn } from '@floodgate/operators';
import { operatorOperations } from '@floodgate/operators/console';
import { partnerOperations } from '@floodgate/partners/console';
import { passOperations } from '@floodgate/passes/console';
import { guestOperations, queueOperations, registrationOperations } from '@floodgate/registrations/console';
import { reportOperations } from '@floodgate/reports/console';
import type { Logger } from '@floodgate/service';
import { ticketOperations } from '@floodgate/tickets/console';
import { waitingListOperations } from '@floodgate/waiting-list/console';
import { webhookOperations } from '@floodgate/webhooks/console';
import { Type, type Static, type TObject } from '@sinclair/typebox';
import type { ConsoleConfig } from './config.ts';
import type { Cookies } from './cookies.ts';
import { EVENT_FIELDS } from './event-fields.ts';
import type { Provider } from './identity-provider.ts';
import type { Installation } from './installation/watch-installation.ts';

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
  ...reportOperations,
  ...queueOperations,
  ...jobOperations,
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
  /** The address of the scanner. Undefined: not set. */
  doorUrl: string | undefined;
  /** Checks a password, with one count of wrong ones for the sign-in and for changes of a password. */
  signIn: SignIn;
  installation: Installation;
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

/** Returns an operator as the caller of operations, each of which admits it to what its input names. */
export const callerOf = (operator: OperatorPrincipal): Caller => callerWith(operator, EVENT_FIELDS);

/** Returns whether no field of an operation names something of an event: it needs its scope for all events. */
const isOfNoEvent = ({ input, isList = false }: Need) =>
  !isList && !Object.keys(input.properties).some((field) => Object.hasOwn(EVENT_FIELDS, field));

/**
 * Returns whether the form of an operation is shown to an operator. `may`: on a page, whether it has a scope
 * for what the page shows.
 */
export const mayOpen = (operator: OperatorPrincipal, need: Need, may?: Caller['may']) =>
  isOfNoEvent(need) ? mayUse(operator, need.scope) : (may ?? anywhere(operator))(need.scope);

const anywhere = (operator: OperatorPrincipal) => (scope: Scope) => mayUseSomewhere(operator, scope);

/** The fields of the address of a page that name what it shows. */
const OfPage = Type.Object({
  eventId: Type.Optional(Id),
  ticketId: Type.Optional(Id),
  webhookId: Type.Optional(WebhookPath.properties.webhookId),
  passReference: Type.Optional(text(1, 255)),
});

/** Those of a page about a job. The id is required: an optional one would be that of a new job. */
const OfJobPage = Type.Object({ ...OfPage.properties, jobId: JobId });

/**
 * Resolves to the operator as the caller of a page: `may` is for what the page shows. Throws as operations do.
 * `isList`: without something of an event in its address, the page lists things of events.
 */
export async function admitToPage(
  { db }: ConsoleContext,
  operator: OperatorPrincipal,
  scopes: readonly Scope[],
  { address, isList }: { address: object; isList: boolean },
) {
  const fields: TObject = 'jobId' in address && address.jobId ? OfJobPage : OfPage;
  const input = filledInput(fields, address);
  let admitted = callerOf(operator);
  for (const scope of scopes)
    admitted = await callerOf(operator).admit(db, { scope, input: fields, isList }, input);
  return admitted;
}

/** Reads by an operation, with fields of a page. */
export const readBy = <Input extends TObject, Result>(
  { db }: ConsoleContext,
  operation: Query<Input, Result>,
  given: Filled<Input>,
  caller: Caller,
) => operation.run(db, filledInput(operation.input, given), caller);
