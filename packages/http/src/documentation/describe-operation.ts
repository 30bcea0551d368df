import type { SwaggerTransform } from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import type { FailureCode } from '@floodgate/contract';
import { describeAnswers, type AnswerHeaders } from './describe-answers.ts';
import { exampleOf } from './example-of.ts';

declare module 'fastify' {
  // For the reference only: hooks check and set headers by hand, and serializers are made from `response`.
  interface FastifySchema {
    /** Headers of the request. */
    requestHeaders?: TSchema;
    /** Headers of the operation's own answers, beside those that every answer has. */
    answerHeaders?: AnswerHeaders;
    /** Every failure that the operation may answer. */
    failures?: readonly FailureCode[];
  }
}

/** Describes a route by its own schema, with an example for its request and for every answer. */
export const describeOperation: SwaggerTransform = ({ schema, url }) => {
  if (!schema?.failures) return { schema: schema ?? {}, url };
  const { requestHeaders, answerHeaders, failures, ...rest } = schema;
  const body = rest.body as TSchema | undefined;
  return {
    url,
    schema: {
      ...rest,
      ...(requestHeaders && { headers: requestHeaders }),
      ...(body && { body: { ...body, examples: [exampleOf(body)] } }),
      response: describeAnswers(rest.response as Record<string, TSchema>, { failures, answerHeaders, body }),
    },
  };
};
