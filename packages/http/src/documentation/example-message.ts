import type { TSchema } from '@sinclair/typebox';
import { BODY_LIMIT_BYTES, fieldRule, RESPONSE_CODES, type FailureCode } from '@floodgate/contract';

/** Returns the message of an example, where what is really answered says more than the catalogue. */
export function exampleMessage(code: FailureCode, status: number, body: TSchema | undefined): string {
  if (code === '10') return malformed(status, body !== undefined);
  if (code === '50') return 'Too many requests: at most 100 a second';
  // As if the first two were wrong: every field that is wrong is named.
  if (code === '11' && body)
    return Object.keys(body['properties'])
      .slice(0, 2)
      .map((name) => fieldRule(body, `/${name}`))
      .join('; ');
  return RESPONSE_CODES[code].message;
}

function malformed(status: number, hasBody: boolean): string {
  if (status === 413) return `The body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`;
  if (status === 415) return 'The body must be sent as application/json';
  if (status === 431) return 'The headers are too large';
  return hasBody ? 'The body is not well-formed JSON' : 'The request is not well-formed HTTP';
}
