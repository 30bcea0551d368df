import { post, succeeded, type Ask } from './ask.ts';
import type { Attendee, RegistrationList } from './contract.ts';
import type { CallOptions, ListOptions } from './options.ts';
import type { RegistrationListing } from './results.ts';

const EVENTS = '/api/v1/events';

export const pathOf = (passReference: string) =>
  `${EVENTS}/registrations/${encodeURIComponent(passReference)}`;

/** Returns the methods that read, and the methods for changes that are idempotent without a key. */
export function createQueries(ask: Ask) {
  const tickets = (options?: CallOptions) =>
    ask('getTickets', 'tickets', { path: `${EVENTS}/tickets` }, options);

  return {
    /** Lists the available tickets. */
    tickets,
    /** Iterates over the available tickets. Throws a FloodgateError if the service refuses. */
    async *eachTicket(options?: CallOptions) {
      yield* succeeded('the list of tickets', await tickets(options)).tickets;
    },
    /** Returns the state of the sale. */
    launch: (options?: CallOptions) => ask('getLaunch', 'launch', { path: `${EVENTS}/launch` }, options),
    /** Returns the state of a registration. */
    registration: (passReference: string, options?: CallOptions) =>
      ask('getRegistration', 'registration', { path: pathOf(passReference) }, options),
    /** Lists when and at which gates a registration was admitted. */
    admissions: (passReference: string, options?: CallOptions) =>
      ask('listAdmissions', 'admissions', { path: `${pathOf(passReference)}/admissions` }, options),
    /** Lists the changes to registrations. The iteration throws a FloodgateError if the service refuses. */
    registrations: (options: ListOptions = {}) => listRegistrations(ask, options),
    /** Confirms a held registration. */
    confirm: (passReference: string, options?: CallOptions) =>
      ask('confirmRegistration', 'passReference', post(`${pathOf(passReference)}/confirm`), options),
    /** Cancels a registration. */
    cancel: (passReference: string, options?: CallOptions) =>
      ask('cancelRegistration', 'passReference', post(`${pathOf(passReference)}/cancel`), options),
    /** Cancels up to 100 registrations together, all or none. Idempotent without a key. */
    cancelAll: (passReferences: readonly string[], options?: CallOptions) =>
      ask(
        'cancelRegistrations',
        'cancelled',
        post('/api/v1/events/registrations/cancel', { passReferences }),
        options,
      ),
    /** Gives the seat of a registration to another attendee. The result has the new pass reference. */
    changeAttendee: (passReference: string, attendee: Attendee, options?: CallOptions) =>
      ask('changeAttendee', 'passReference', post(`${pathOf(passReference)}/attendee`, attendee), options),
    /**
     * Cancels all registrations of a test event and deletes its idempotency keys. Call it again while `more`
     * is true.
     */
    reset: (options?: CallOptions) => ask('resetTestEvent', 'reset', post(`${EVENTS}/reset`), options),
  };
}

export type Queries = ReturnType<typeof createQueries>;

function listRegistrations(ask: Ask, options: ListOptions): RegistrationListing {
  const { after, pageSize = 1_000, signal, ...filter } = options;
  let cursor = after;

  async function* pages(): AsyncGenerator<RegistrationList, void, undefined> {
    for (let more = true; more;) {
      const query = new URLSearchParams({ limit: String(pageSize) });
      for (const [name, value] of Object.entries({ after: cursor, ...filter }))
        if (value !== undefined) query.set(name, value);
      const path = `${EVENTS}/registrations?${query.toString()}`;
      const result = await ask('listRegistrations', 'page', { path }, { signal });
      const { page } = succeeded('the list of registrations', result);
      yield page;
      ({ cursor, more } = page);
    }
  }

  return {
    get cursor() {
      return cursor;
    },
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { registrations } of pages()) yield* registrations;
    },
  };
}
