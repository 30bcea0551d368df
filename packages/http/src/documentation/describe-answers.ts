import type { TSchema } from '@sinclair/typebox';
import {
  COMMON_FAILURES,
  failure,
  FailureEnvelope,
  RateLimitHeaders,
  RequestIdHeader,
  responseCodeEntry,
  RetryAfterHeader,
  type ResponseCode,
} from '@floodgate/contract';
import type { FastifySchema } from 'fastify';
import { exampleMessage } from './example-message.ts';
import { exampleOf } from './example-of.ts';

/** Returns what an operation may answer, by HTTP status: which codes, an example of each, and the headers. */
export function describeAnswers(schema: FastifySchema): object {
  const codes: ResponseCode[] = ['00', ...(schema.failures ?? [])];
  const answers = codes.flatMap((code) => statusesOf(code, schema).map((status) => ({ code, status })));
  const byStatus = Map.groupBy(answers, ({ status }) => status);
  const described = [...byStatus].map(([status, alike]) => {
    const those = alike.map(({ code }) => code);
    return [status, describeStatus(status, those, schema)] as const;
  });
  return Object.fromEntries(described);
}

// A body that is not read is neither too large nor of the wrong type.
const ABOUT_BODIES = [413, 415];

function statusesOf(code: ResponseCode, { body }: FastifySchema): readonly number[] {
  const { httpStatuses } = responseCodeEntry(code);
  return body ? httpStatuses : httpStatuses.filter((status) => !ABOUT_BODIES.includes(status));
}

function describeStatus(status: number, codes: ResponseCode[], schema: FastifySchema): object {
  const examples = codes.map((code) => {
    const { message: summary } = responseCodeEntry(code);
    return [`code${code}`, { summary: `${code} ${summary}`, value: exampleAnswer(code, status, schema) }];
  });
  return {
    description: codes.map((code) => `${code}: ${responseCodeEntry(code).meaning}`).join('\n\n'),
    headers: headersOf(status, codes, schema),
    content: {
      'application/json': {
        schema: status === 200 ? successOf(schema) : failureWith(codes),
        examples: Object.fromEntries(examples) as object,
      },
    },
  };
}

const successOf = ({ response }: FastifySchema) => (response as { 200: TSchema })[200];

const failureWith = (codes: ResponseCode[]) => ({
  ...FailureEnvelope,
  properties: { ...FailureEnvelope.properties, responseCode: { type: 'string', enum: codes } },
});

function exampleAnswer(code: ResponseCode, status: number, schema: FastifySchema): unknown {
  if (code === '00') return exampleOf(successOf(schema));
  return failure(code, exampleMessage(code, status, schema.body as TSchema | undefined));
}

// Answered before anybody knows which partner's limit would count.
const UNCOUNTED = [401, 431];

function headersOf(status: number, codes: ResponseCode[], { answerHeaders }: FastifySchema): object {
  const isOwn = codes.some((code) => !(COMMON_FAILURES as ResponseCode[]).includes(code));
  const isTimed = codes.some((code) => responseCodeEntry(code).retryAfterSeconds !== undefined);
  return {
    ...RequestIdHeader,
    ...(!UNCOUNTED.includes(status) && RateLimitHeaders),
    ...(isTimed && RetryAfterHeader),
    ...(isOwn && answerHeaders),
  };
}
