import type { TSchema } from '@sinclair/typebox';
import {
  COMMON_FAILURES,
  failure,
  FailureEnvelope,
  RateLimitHeaders,
  RequestIdHeader,
  RESPONSE_CODES,
  responseCodeEntry,
  RetryAfterHeader,
  type FailureCode,
} from '@floodgate/contract';
import { exampleMessage } from './example-message.ts';
import { exampleOf } from './example-of.ts';

/** Schemas of headers by their names. */
export type AnswerHeaders = Readonly<Record<string, object>>;

interface Operation {
  failures: readonly FailureCode[];
  answerHeaders: AnswerHeaders | undefined;
  /** The schema of the request's body; undefined where none is read. */
  body: TSchema | undefined;
}

/** Returns what an operation may answer, by HTTP status: which codes, an example of each, and the headers. */
export function describeAnswers(response: Record<string, TSchema>, operation: Operation): object {
  const refused = new Map<number, FailureCode[]>();
  for (const code of operation.failures)
    for (const status of statusesOf(code, operation))
      refused.set(status, [...(refused.get(status) ?? []), code]);
  const failures = [...refused].map(([status, codes]) => [
    status,
    describeFailures(status, codes, operation),
  ]);
  return { 200: describeSuccess(response['200']!, operation), ...Object.fromEntries(failures) };
}

// A body that is not read is neither too large nor of the wrong type.
const ABOUT_BODIES = [413, 415];

function statusesOf(code: FailureCode, { body }: Operation): readonly number[] {
  const { httpStatuses } = responseCodeEntry(code);
  return body ? httpStatuses : httpStatuses.filter((status) => !ABOUT_BODIES.includes(status));
}

function describeSuccess(schema: TSchema, { answerHeaders }: Operation): object {
  return {
    description: '00: success',
    headers: { ...RequestIdHeader, ...RateLimitHeaders, ...answerHeaders },
    content: { 'application/json': { schema, example: exampleOf(schema) } },
  };
}

function describeFailures(status: number, codes: FailureCode[], operation: Operation): object {
  const lines = codes.map((code) => `${code}: ${RESPONSE_CODES[code].meaning}`);
  const examples = codes.map((code) => {
    const value = failure(code, exampleMessage(code, status, operation.body));
    return [`code${code}`, { summary: `${code} ${RESPONSE_CODES[code].message}`, value }];
  });
  return {
    description: lines.join('\n\n'),
    headers: failureHeaders(status, codes, operation),
    content: {
      'application/json': { schema: failureSchema(codes), examples: Object.fromEntries(examples) as object },
    },
  };
}

// Answered before anybody knows which partner's limit would count.
const UNCOUNTED = [401, 431];

function failureHeaders(status: number, codes: FailureCode[], { answerHeaders }: Operation): AnswerHeaders {
  const isOwn = codes.some((code) => !COMMON_FAILURES.includes(code as never));
  const isTimed = codes.some((code) => responseCodeEntry(code).retryAfterSeconds !== undefined);
  return {
    ...RequestIdHeader,
    ...(!UNCOUNTED.includes(status) && RateLimitHeaders),
    ...(isTimed && RetryAfterHeader),
    ...(isOwn && answerHeaders),
  };
}

function failureSchema(codes: FailureCode[]): object {
  const { responseCode, ...rest } = FailureEnvelope.properties;
  const listed = { ...responseCode, enum: codes };
  return { ...FailureEnvelope, properties: { responseCode: listed, ...rest } };
}
