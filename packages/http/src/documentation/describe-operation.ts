import type { SwaggerTransform } from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import type { FailureCode } from '@floodgate/contract';
import { describeAnswers } from './describe-answers.ts';
import { exampleOf } from './example-of.ts';

declare module 'fastify' {
  // For the reference only: hooks check and set headers by hand, and serializers are made from `response`.
  interface FastifySchema {
    /** Headers of the request. */
    requestHeaders?: TSchema;
    /** Headers of the operation's own answers, beside those that every answer has. */
    answerHeaders?: object;
    /** Every failure that the operation may answer. */
    failures?: readonly FailureCode[];
  }
}

/** Describes a route by its own schema, with an example for its request and for every answer. */
export const describeOperation: SwaggerTransform = ({ schema, url }) => {
  if (!schema?.failures) return { schema: schema ?? {}, url };
  const { requestHeaders: headers, body } = schema as { requestHeaders: TSchema; body?: TSchema };
  const example = body && { body: { ...body, examples: [exampleOf(body)] } };
  return { schema: { ...schema, headers, ...example, response: describeAnswers(schema) }, url };
};
