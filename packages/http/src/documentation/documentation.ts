import swagger, { type SwaggerTransform } from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import { CallerHeaders, type FailureCode } from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';
import { describeAnswers } from './describe-answers.ts';
import { describeService } from './describe-service.ts';
import { exampleOf } from './examples.ts';
import { referencePage } from './reference-page.ts';

declare module 'fastify' {
  // For the reference only: handlers set them by hand.
  interface FastifySchema {
    /** Every failure that the operation may answer. */
    failures?: readonly FailureCode[];
    /** Headers of the operation's own answers, beside those that every answer has. */
    answerHeaders?: object;
  }
}

/** Describes the routes that are registered after it: /api/v1/openapi.json and a page to read it at /docs. */
export async function documentation(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Floodgate', version: '1', description: describeService() },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: { secretKey: { type: 'apiKey', in: 'header', name: 'x-secret-key' } },
      },
      security: [{ secretKey: [] }],
    },
    transform: describeOperation,
  });
  let text: string | undefined;
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    void reply.type('application/json; charset=utf-8');
    reply.send((text ??= JSON.stringify(app.swagger())));
  });
  await app.register(referencePage);
}

/** Describes a route by its own schema, with an example for its request and for every answer. */
const describeOperation: SwaggerTransform = ({ schema, url }) => {
  if (!schema?.failures) return { schema: schema ?? {}, url };
  const { headers: own, body } = schema as { headers?: TSchema; body?: TSchema };
  const headers = { ...CallerHeaders, properties: { ...CallerHeaders.properties, ...own?.['properties'] } };
  const example = body && { body: { ...body, examples: [exampleOf(body)] } };
  return { schema: { ...schema, headers, ...example, response: describeAnswers(schema) }, url };
};
