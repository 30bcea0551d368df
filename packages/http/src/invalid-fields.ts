import type { FastifyError, FastifyReply } from 'fastify';

/** A field of a request, and a rule of its schema that it breaks. Never holds what was sent. */
export interface InvalidField {
  /** As `emailAddress`, `registrations/3/emailAddress` or `header/hold-for`. Empty for the whole body. */
  field: string;
  /** As `required`, `type`, `maxLength` or `format`. */
  rule: string;
}

/** Proxies and clients refuse long headers. */
const LIMIT = 50;
const LIMIT_BYTES = 4_096;

/** Returns each field and rule of the first faults, once. `part` is the part of the request that has the faults. */
export function invalidFields(
  faults: FastifyError['validation'] | null = [],
  part: string | undefined = 'body',
): InvalidField[] {
  // A list of a thousand wrong items has thousands of faults, and the header is rarely asked for.
  const first = faults?.slice(0, LIMIT);
  const prefix = part === 'headers' ? 'header/' : '';
  const pairs = new Map(
    first?.map(({ instancePath, keyword, params: { missingProperty: missing } }) => {
      const pointer = typeof missing === 'string' ? `${instancePath}/${missing}` : instancePath;
      const field = prefix + pointer.slice(1);
      return [`${field} ${keyword}`, { field, rule: keyword }];
    }),
  );
  return [...pairs.values()];
}

/** Lists the fields in a header of the answer, if the caller asked for that. Past the limits it lists the first ones only. */
export function listInvalidFields(reply: FastifyReply, fields: readonly InvalidField[]): void {
  if (fields.length === 0 || reply.request.headers['x-error-details'] !== 'json') return;
  const listed = fields.slice(0, LIMIT);
  while (listed.length > 1 && asciiJson(listed).length > LIMIT_BYTES) listed.pop();
  void reply.header('x-invalid-fields', asciiJson(listed));
}

// The names are those of our schemas, but a header with another character would fail the answer.
const asciiJson = (value: unknown) =>
  JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
