import { fieldRule } from '@floodgate/contract';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** A rule of its schema that a request breaks. Never holds what was sent. */
interface Fault {
  /** The part of the request: body, headers, querystring or params. */
  part: string;
  /** The JSON pointer of the value in that part; empty for the whole of it. */
  pointer: string;
  rule: string;
}

/** Returns every rule that a request breaks. Fastify stops before its headers where another part is wrong. */
export function faultsOf(
  request: FastifyRequest,
  { validation, validationContext = 'body' }: Partial<FastifyError> = {},
): Fault[] {
  const check = validationContext === 'headers' ? undefined : request.getValidationFunction('headers');
  const headerFaults = check && !check(request.headers) ? (check.errors ?? []) : [];
  const faultIn = (part: string) => (error: NonNullable<FastifyError['validation']>[number]) => {
    const { missingProperty: missing } = error.params;
    const pointer = typeof missing === 'string' ? `${error.instancePath}/${missing}` : error.instancePath;
    return { part, pointer, rule: error.keyword };
  };
  return [...(validation ?? []).map(faultIn(validationContext)), ...headerFaults.map(faultIn('headers'))];
}

/** Returns a sentence for each value that is wrong. */
export function sentencesOf(faults: readonly Fault[], schemas: object = {}): string[] {
  const sentences = faults.map(({ part, pointer }) =>
    pointer === ''
      ? 'The body must be a JSON object'
      : fieldRule((schemas as Record<string, unknown>)[part], pointer),
  );
  return [...new Set(sentences)];
}

/**
 * Returns what is wrong with the body of a route with `attachValidation`, for people: about all of the call, and about each item
 * of the body's `list`, with the sentences that it would have got as a body of its own. `fields` has all of it, for programs.
 */
export function itemFaults(request: FastifyRequest, list: string) {
  const faults = faultsOf(request, request.validationError as Partial<FastifyError> | undefined);
  const item = new RegExp(`^/${list}/([0-9]+)(?=/|$)`);
  const ofItems = Map.groupBy(faults, ({ part, pointer }) =>
    part === 'body' ? item.exec(pointer)?.[1] : undefined,
  );
  const schemas = request.routeOptions.schema;
  const ofCall = sentencesOf(ofItems.get(undefined) ?? [], schemas);
  ofItems.delete(undefined);
  const { properties } = schemas!.body as { properties: Record<string, TSchema> };
  const byIndex = Array.from(ofItems, ([index, own]): [number, string[]] => {
    const inItem = own.map((fault) => ({ ...fault, pointer: fault.pointer.replace(item, '') }));
    return [Number(index), sentencesOf(inItem, { body: properties[list]?.['items'] as TSchema })];
  });
  return { ofCall, byIndex: new Map(byIndex), fields: invalidFields(faults) };
}

/** A field, as `emailAddress`, `registrations/3/emailAddress` or `header/hold-for`, and a rule as `required` or `format`. */
export type InvalidField = Record<'field' | 'rule', string>;

/** Proxies and clients refuse long headers. So many of the longest names stay below 4 KiB. */
const LIMIT = 50;

/** Returns each field and rule of the first faults, once. */
export function invalidFields(faults: readonly Fault[]): InvalidField[] {
  // A list of a thousand wrong items has thousands of faults, and the header is rarely asked for.
  const pairs = faults.slice(0, LIMIT).map(({ part, pointer, rule }): [string, InvalidField] => {
    const field = `${part === 'headers' ? 'header/' : ''}${pointer.slice(1)}`;
    return [`${field} ${rule}`, { field, rule }];
  });
  return [...new Map(pairs).values()];
}

/** Lists the fields in a header of the answer, if the caller asked for that. */
export function listInvalidFields(reply: FastifyReply, fields: readonly InvalidField[]): void {
  if (fields.length === 0 || reply.request.headers['x-error-details'] !== 'json') return;
  void reply.header('x-invalid-fields', JSON.stringify(fields));
}
