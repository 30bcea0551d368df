import type { TSchema } from '@sinclair/typebox';
import {
  COMMON_FAILURES,
  failure,
  FailureEnvelope,
  RateLimitHeaders,
  RequestIdHeader,
  RESPONSE_CODES,
  RetryAfterHeader,
  type ResponseCode,
} from '@floodgate/contract';
import type { FastifySchema } from 'fastify';
import { exampleMessage, exampleOf } from './examples.ts';

// A body that is not read is neither too large nor of the wrong type.
const ABOUT_BODIES = [413, 415];
// Answered before anybody knows which partner's limit would count.
const UNCOUNTED = [401, 431];

/** Returns what an operation may answer, by HTTP status: which codes, an example of each, and the headers. */
export function describeAnswers(schema: FastifySchema): object {
  const codes: ResponseCode[] = ['00', ...(schema.failures ?? [])];
  const statuses = new Set(codes.flatMap((code) => RESPONSE_CODES[code].httpStatuses));
  if (!schema.body) for (const status of ABOUT_BODIES) statuses.delete(status);
  const described = Array.from(statuses, (status) => {
    const alike = codes.filter((code) => RESPONSE_CODES[code].httpStatuses.includes(status));
    return [status, describeStatus(status, alike, schema)] as const;
  });
  return Object.fromEntries(described);
}

function describeStatus(status: number, codes: ResponseCode[], schema: FastifySchema): object {
  const success = (schema.response as { 200: TSchema })[200];
  const examples = codes.map((code) => {
    const message = exampleMessage(code, status, schema.body as TSchema | undefined);
    const value = code === '00' ? exampleOf(success) : failure(code, message);
    return [`code${code}`, { summary: `${code} ${RESPONSE_CODES[code].message}`, value }];
  });
  return {
    description: codes.map((code) => `${code}: ${RESPONSE_CODES[code].meaning}`).join('\n\n'),
    headers: headersOf(status, codes, schema),
    content: {
      'application/json': {
        schema: status === 200 ? success : failureWith(codes),
        examples: Object.fromEntries(examples) as object,
      },
    },
  };
}

const failureWith = (codes: ResponseCode[]) => ({
  ...FailureEnvelope,
  properties: { ...FailureEnvelope.properties, responseCode: { type: 'string', enum: codes } },
});

function headersOf(status: number, codes: ResponseCode[], { answerHeaders }: FastifySchema): object {
  const isOwn = codes.some((code) => !(COMMON_FAILURES as ResponseCode[]).includes(code));
  const isTimed = codes.some((code) => RESPONSE_CODES[code].retryAfterSeconds !== undefined);
  return {
    ...RequestIdHeader,
    ...(!UNCOUNTED.includes(status) && RateLimitHeaders),
    ...(isTimed && RetryAfterHeader),
    ...(isOwn && answerHeaders),
  };
}
