import { fieldRule } from '@floodgate/contract';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** A rule of the schema that a request breaks. Contains no values of the request. */
interface Fault {
  /** The part of the request: body, headers, querystring or params. */
  part: string;
  /** JSON pointer of the value in that part. Empty: the whole part. */
  pointer: string;
  rule: string;
}

/**
 * Returns every rule that a request breaks. If another part is invalid, Fastify does not validate the
 * headers, so they are validated here.
 */
export function faultsOf(request: FastifyRequest, error: Partial<FastifyError> = {}) {
  const { validation = [], validationContext = 'body' } = error;
  const check = validationContext === 'headers' ? undefined : request.getValidationFunction('headers');
  const headerFaults = check && !check(request.headers) ? (check.errors ?? []) : [];
  const faultIn = (part: string) => (broken: (typeof validation)[number]) => {
    const { instancePath, keyword: rule, params } = broken;
    const { missingProperty: missing } = params;
    const pointer = typeof missing === 'string' ? `${instancePath}/${missing}` : instancePath;
    return { part, pointer, rule };
  };
  return [...validation.map(faultIn(validationContext)), ...headerFaults.map(faultIn('headers'))];
}

/** Maximum number of sentences in a message. No single registration, hold or webhook has as many fields. */
const SENTENCE_LIMIT = 50;

/** Returns a sentence for each invalid value. If there are very many, the last sentence counts the others. */
export function sentencesOf(faults: readonly Fault[], schemas: object = {}) {
  const values = new Map(faults.map(({ part, pointer }) => [`${part} ${pointer}`, { part, pointer }]));
  const sentences = [...values.values()]
    .slice(0, SENTENCE_LIMIT)
    .map(({ part, pointer }) =>
      pointer === ''
        ? 'The body must be a JSON object'
        : fieldRule((schemas as Record<string, unknown>)[part], pointer),
    );
  const more = values.size - SENTENCE_LIMIT;
  return [...new Set(sentences), ...(more > 0 ? [`and ${more} more invalid values`] : [])];
}

/**
 * Returns the faults of a request to a route with `attachValidation`: sentences about the call, and sentences
 * about each item of the body's `list`, worded as if the item were the body. `fields` has all faults in
 * machine-readable form.
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

/**
 * A field, such as `emailAddress`, `registrations/3/emailAddress` or `header/hold-for`, and a rule, such as
 * `required`.
 */
export type InvalidField = Record<'field' | 'rule', string>;

/** Proxies and clients reject long headers. This number of the longest names fits into 4 KiB. */
const LIMIT = 50;

/** Returns the fields and rules of the first faults, without duplicates. */
export function invalidFields(faults: readonly Fault[]) {
  // A list of a thousand invalid items has thousands of faults, and few clients request the header.
  const pairs = faults.slice(0, LIMIT).map(({ part, pointer, rule }): [string, InvalidField] => {
    const field = `${part === 'headers' ? 'header/' : ''}${pointer.slice(1)}`;
    return [`${field} ${rule}`, { field, rule }];
  });
  return [...new Map(pairs).values()];
}

/** Lists the fields in a header of the answer, if the caller requested it. */
export function listInvalidFields(reply: FastifyReply, fields: readonly InvalidField[]) {
  if (fields.length === 0 || reply.request.headers['x-error-details'] !== 'json') return;
  void reply.header('x-invalid-fields', JSON.stringify(fields));
}
