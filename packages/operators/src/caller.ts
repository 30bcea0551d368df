import type { Database } from '@floodgate/database';
import type { TObject } from '@sinclair/typebox';
import type { Scope } from './roles.ts';

// Commands import this file when they start, so it imports types only.

/** The scope that an operation needs, and the fields that say for which event. */
export interface Need {
  scope: Scope;
  input: TObject;
  /** It lists things of all events, and shows those of the events that the caller may see. */
  isList?: boolean;
}

/** The person or program that calls an operation. */
export interface Caller {
  /** As in the audit log. */
  name: string;
  /**
   * Returns whether the caller has a scope. Some results show less without another scope than that of the
   * operation. In an operation: for the event of its input, or for each event of a list.
   */
  may: (scope: Scope) => boolean;
  /** In an operation: the events for which the caller has its scope. Undefined: all. */
  events: readonly number[] | undefined;
  /**
   * Resolves to the caller as the operation sees it. Throws Forbidden without its scope, and NotFound if the
   * input names something of an event of which the caller may see nothing.
   */
  admit: (db: Database, need: Need, given: object) => Promise<Caller>;
}

/** The command line runs as the owner of the tables, who may do everything. */
export const COMMAND_LINE: Caller = {
  name: 'command line',
  may: () => true,
  events: undefined,
  admit: () => Promise.resolve(COMMAND_LINE),
};

/**
 * Reads what several operators see on one page, so it sees no more than each of them. The page has admitted
 * each of them itself.
 */
export const SHARED_PAGE: Caller = {
  name: '',
  may: () => false,
  events: undefined,
  admit: () => Promise.resolve(SHARED_PAGE),
};
