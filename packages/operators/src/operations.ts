import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox';
import { perform, type Action } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { InvalidInput } from '@floodgate/service/failure';
import { wrongFields } from '@floodgate/service/load-config';
import type { Area, Scope } from './access.ts';

/** One operation of the operator API, which the console's pages use as well. */
export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below /operator/v1. Fields in braces come from the path, the others from the query of a GET or from the body. */
  path: string;
  /** Its name in the OpenAPI document. */
  id: string;
  scope: Scope;
  summary: string;
  /** The name of its changes in the audit log. Absent: it only reads. */
  action?: string;
  input: TObject;
  /**
   * `may` says which scopes the caller has: some results show less without another scope. Throws InvalidInput and Failure, as actions do.
   * Resolves to a Response if the result is too large for memory.
   */
  run(db: Database, input: Record<string, unknown>, actor: string, may: May): Promise<unknown>;
}

/** Returns whether the caller of an operation has a scope. */
export type May = (scope: Scope) => boolean;

type Method = Operation['method'];
type Route = `${Method} /${string}`;

/** Returns functions that make operations on a subject. Those that read require its read scope, and actions its write scope. */
export function operationsOn(area: Area) {
  const headed = (route: Route, summary: string, right: 'read' | 'write') => {
    const [method, path] = route.split(' ') as [Method, string];
    return { method, path, scope: `${area}:${right}` as const, summary };
  };
  return {
    /** Returns an operation that reads. Its input has these fields. */
    reads: <Fields extends TProperties>(
      route: Route,
      summary: string,
      id: string,
      fields: Fields,
      run: (db: Database, input: Static<TObject<Fields>>, may: May) => Promise<unknown>,
    ): Operation => {
      const input = Type.Object<TProperties>(fields);
      return {
        ...headed(route, summary, 'read'),
        id,
        input,
        run: async (db, values, _actor, may) => {
          const rules = wrongFields(input, values);
          if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
          return run(db, values as Static<TObject<Fields>>, may);
        },
      };
    },
    /** Returns an operation that performs an action. Its id is the action's name: "ticketUpdate" for "ticket.update". */
    performs: <Input extends TObject, Result>(
      route: Route,
      summary: string,
      action: Action<Input, Result>,
      present: (result: Result) => unknown = (result) => result,
    ): Operation => ({
      ...headed(route, summary, 'write'),
      id: action.name.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase()),
      action: action.name,
      input: action.input,
      run: async (db, values, actor) => present(await perform(db, action, values as Static<Input>, actor)),
    }),
  };
}

const allOf = (schema: TSchema): TSchema[] => (schema['anyOf'] as TSchema[] | undefined) ?? [schema];
const has = (schema: TSchema, ...types: string[]) =>
  allOf(schema).some(({ type }) => types.includes(type as string));

// As on the command line: "5.000" is five thousand to one person and five to another, so it stands for no number.
const WHOLE = /^-?(0|[1-9]\d*)$/;
const AMOUNT = /^\d+(\.\d{1,2})?$/;

/** Returns the value that a text stands for: a field of a path, a query or a form. A text that stands for none stays a text. */
export function valueOf(schema: TSchema, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (has(schema, 'null') && text === 'none') return null;
  const list = allOf(schema).find(({ type }) => type === 'array');
  if (list) return (text.match(/[^\s,]+/g) ?? []).map((item) => valueOf(list['items'] as TSchema, item));
  if (has(schema, 'boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return isNumberFor(schema, text.trim()) ? Number(text) : fromJson(schema, text);
}

const isNumberFor = (schema: TSchema, text: string) =>
  (has(schema, 'integer') && WHOLE.test(text)) || (has(schema, 'number') && AMOUNT.test(text));

/** Returns the value of a field in JSON, which has times as texts with an offset. */
export function fromJson(schema: TSchema, value: unknown) {
  if (typeof value !== 'string' || !has(schema, 'Date')) return value;
  try {
    return new Date(Temporal.Instant.from(value).epochMilliseconds);
  } catch {
    return value;
  }
}
