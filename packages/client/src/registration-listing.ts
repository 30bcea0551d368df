import type { RegistrationList, RegistrationStatus } from './contract.ts';

export interface ListOptions {
  /** The cursor to go on from; without it the list starts at the beginning. */
  after?: string | undefined;
  /** Leaves out what has another state. */
  state?: 'confirmed' | 'cancelled' | 'failed';
  /** Registrations of one page, 1 to 1,000. */
  pageSize?: number;
  signal?: AbortSignal;
}

/** What became of registrations, up to now, in the order in which it happened. */
export interface RegistrationListing extends AsyncIterable<RegistrationStatus> {
  /** Where to go on another time: all before it was handed out, and was asked for to the end. */
  readonly cursor: string | undefined;
  /** The same in pages, each with the cursor behind it: save both together, and nothing comes twice. */
  pages(): AsyncGenerator<RegistrationList, void, undefined>;
}

const PAGE_SIZE = 1_000;

/** Returns a listing of the pages that `readPage` reads for a query. */
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
