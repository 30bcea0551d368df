import { Type, type TSchema } from '@sinclair/typebox';
import { closed } from './fields.ts';
import { RESPONSE_CODES, type FailureCode } from './response-codes.ts';

/**
 * Version of the contract with partners, in the OpenAPI document and the API's changelog. The first number is
 * the version in the paths and does not change. Additions increase the second number, better descriptions the
 * third.
 */
export const CONTRACT_VERSION = '1.1.0';

/** Schema of a successful answer that carries `data`. Exactly three fields, in this order. */
export const SuccessEnvelope = <Data extends TSchema>(data: Data) =>
  closed('Success', {
    responseCode: Type.Literal('00', { description: 'Result code; "00" marks success.' }),
    responseMessage: Type.Literal('Successful', { description: 'Human-readable message.' }),
    responseData: data,
  });

/** Schema of every failed answer. */
export const FailureEnvelope = closed('Failure', {
  responseCode: Type.String({ description: 'Result code; see the list of response codes.' }),
  responseMessage: Type.String({ description: 'Human-readable reason for the failure.' }),
  responseData: Type.Null({ description: 'Always null on a failure.' }),
});

/** Schemas of the answers of an operation, with `data` on success. */
export function answersOf<Data extends TSchema>(data: Data) {
  return { 200: SuccessEnvelope(data), '4xx': FailureEnvelope, '5xx': FailureEnvelope };
}

/** Returns what the schema of every operation has: the tag, the failures and the answer. */
export const answering = <Answer extends TSchema>(tag: string, answer: Answer, failures: FailureCode[]) => ({
  tags: [tag],
  failures,
  response: answersOf(answer),
});

/** Wraps the payload of a successful answer. */
export function success<Data>(responseData: Data) {
  return { responseCode: '00' as const, responseMessage: 'Successful' as const, responseData };
}

/** Body of a failed answer. `message` replaces the message of the catalogue. */
export function failure(code: FailureCode, message = RESPONSE_CODES[code].message) {
  return { responseCode: code, responseMessage: message, responseData: null };
}
