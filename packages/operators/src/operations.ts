import type { Static, TObject } from '@sinclair/typebox';
import { performGiven, type Action } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { maskPassCodes } from '@floodgate/contract';
import { assertFields } from '@floodgate/service/load-config';
import type { Caller, Need } from './caller.ts';
import type { Area } from './roles.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

interface Facts<Input extends TObject> extends Need {
  method: Method;
  /** Below /operator/v1. Fields in braces come from the path, the others from the query of a GET or from the body. */
  path: string;
  /** Its name in the OpenAPI document and in the console's addresses. */
  id: string;
  summary: string;
  /** The name of its changes in the audit log. Absent: it only reads. */
  action?: string;
  /** The field of the result with a secret, such as a new key. Nothing stores it: only this answer has it. */
  secret?: string;
  input: Input;
  /** The largest body. Absent: that of all operations, 64 KiB. */
  bodyLimitBytes?: number;
}

/** One operation, declared once for the operator API, the console and the command line. */
export interface Operation<Input extends TObject = TObject, Result = unknown> extends Facts<Input> {
  /**
   * Runs the operation with fields from outside, which can be anything. Throws Forbidden and NotFound if the
   * caller may not run it, and InvalidInput and Failure, as actions do. Masks pass references for callers who
   * may not see attendees. Resolves to a Response if the result is too large for memory.
   */
  run(this: void, db: Database, given: object, caller: Caller): Promise<Result>;
}

/** An operation that reads. It is a function as well, for code whose input the compiler checks. */
export interface Query<Input extends TObject, Result> extends Operation<Input, Result> {
  (db: Database, input: Static<Input>, caller: Caller): Promise<Result>;
}

/** An operation that changes something in the name of the caller. It is a function as well. */
export interface Change<Input extends TObject, Result> extends Operation<Input, Result> {
  (db: Database, input: Static<Input>, caller: Caller): Promise<Result>;
  action: string;
}

/** Returns an operation that reads with these facts. */
export function defineQuery<Input extends TObject, Result>(
  facts: Facts<Input>,
  read: (db: Database, input: Static<Input>, caller: Caller) => Promise<Result>,
): Query<Input, Result> {
  const run = admitted(facts, async (db, given, caller) => {
    assertFields(facts.input, given);
    return read(db, given, caller);
  });
  const query = (db: Database, input: Static<Input>, caller: Caller) => run(db, input, caller);
  return Object.assign(query, { ...facts, run });
}

/** Returns an operation that changes something with these facts. `change` checks what it is given. */
export function defineChange<Input extends TObject, Result>(
  facts: Facts<Input> & { action: string },
  change: (db: Database, given: object, caller: Caller) => Promise<Result>,
): Change<Input, Result> {
  const run = admitted(facts, change);
  const typed = (db: Database, input: Static<Input>, caller: Caller) => run(db, input, caller);
  return Object.assign(typed, { ...facts, run });
}

/** Returns the work of an operation behind its door: no operation can be made without it. */
const admitted =
  <Result>(need: Need, work: (db: Database, given: object, caller: Caller) => Promise<Result>) =>
  async (db: Database, given: object, caller: Caller) => {
    const as = await caller.admit(db, need, given);
    return shownTo(as, await work(db, given, as));
  };

/** The door admits a pass reference, so only those who may see attendees see its code. */
const shownTo = <Result>({ may }: Caller, result: Result) =>
  may('attendees:read') ? result : (masked(result) as Result);

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskPassCodes(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  // Not a date, and not a response that is streamed.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one)]));
}

type Route = `${Method} /${string}`;

/** The fields that a path names in braces. */
type FieldsOf<Path extends string> = Path extends `${string}{${infer Field}}${infer Rest}`
  ? Field | FieldsOf<Rest>
  : never;

/**
 * Returns functions that make operations on a subject. Those that read require its read scope, and actions
 * its write scope.
 */
export function operationsOn(area: Area) {
  const headed = (route: Route, summary: string, right: 'read' | 'write') => {
    const [method, path] = route.split(' ') as [Method, string];
    return { method, path, scope: `${area}:${right}` as const, summary };
  };
  type Read<Input extends TObject, Result> = (
    db: Database,
    input: Static<Input>,
    caller: Caller,
  ) => Promise<Result>;
  return {
    /** Returns an operation that reads. */
    queryOperation: <Path extends Route, Input extends TObject, Result>(
      route: Path,
      summary: string,
      id: string,
      input: Input & { properties: Record<FieldsOf<Path>, unknown> },
      read: Read<Input, Result>,
    ) => defineQuery<Input, Result>({ ...headed(route, summary, 'read'), id, input }, read),
    /**
     * Returns an operation that lists things of all events. `read` leaves out those of events that are not in
     * `caller.events`.
     */
    listOperation: <Path extends Route, Input extends TObject, Result>(
      route: Path,
      summary: string,
      id: string,
      input: Input & { properties: Record<FieldsOf<Path>, unknown> },
      read: Read<Input, Result>,
    ) => defineQuery<Input, Result>({ ...headed(route, summary, 'read'), id, input, isList: true }, read),
    /**
     * Returns an operation that performs an action. Its id is the action's name: "ticketUpdate" for
     * "ticket.update".
     */
    actionOperation: <Path extends Route, Input extends TObject, Result>(
      route: Path,
      summary: string,
      action: Action<Input, Result> & { input: { properties: Record<FieldsOf<Path>, unknown> } },
      { secret }: { secret?: keyof Result & string } = {},
    ) =>
      defineChange<Input, Result>(
        {
          ...headed(route, summary, 'write'),
          id: action.name.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase()),
          action: action.name,
          ...(secret !== undefined && { secret }),
          input: action.input,
        },
        (db, given, { name }) => performGiven(db, action, given, name),
      ),
  };
}
