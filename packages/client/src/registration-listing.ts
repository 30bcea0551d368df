import type { RegistrationList, RegistrationStatus } from './contract.ts';

export interface ListOptions {
  /** The cursor to continue after; by default the list starts at the beginning. */
  after?: string | undefined;
  /** Only entries of this state. */
  state?: 'confirmed' | 'cancelled' | 'failed';
  /** Registrations of one page, 1 to 1,000. */
  pageSize?: number;
  signal?: AbortSignal;
}

/** The changes of registrations up to now, in order. */
export interface RegistrationListing extends AsyncIterable<RegistrationStatus> {
  /** Continue here later: the caller has consumed every entry before it. */
  readonly cursor: string | undefined;
  /** The same in pages, each with its cursor. Save both together, and no entry comes twice. */
  pages(): AsyncGenerator<RegistrationList, void, undefined>;
}

const PAGE_SIZE = 1_000;

/** Returns a listing. `readPage` reads the page of a query. */
export function listRegistrations(
  readPage: (query: string) => Promise<RegistrationList>,
  { after, state, pageSize = PAGE_SIZE }: ListOptions,
): RegistrationListing {
  let cursor = after;

  async function* pages(): AsyncGenerator<RegistrationList, void, undefined> {
    for (let more = true; more;) {
      const query = new URLSearchParams({ limit: String(pageSize) });
      if (cursor !== undefined) query.set('after', cursor);
      if (state !== undefined) query.set('state', state);
      const page = await readPage(`?${query.toString()}`);
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
