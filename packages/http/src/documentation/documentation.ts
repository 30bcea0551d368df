import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { describeOperation } from './describe-operation.ts';
import { describeService } from './describe-service.ts';
import { referencePage } from './reference-page.ts';

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
