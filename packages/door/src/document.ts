import swagger from '@fastify/swagger';
import type { Routes } from '@floodgate/http';

const header = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const;
const SCHEMES = {
  token: header('authorization', 'Door and the token of the device.'),
  time: header('x-door-time', 'The time of the server in Unix milliseconds, within 60 seconds.'),
  signature: header('x-door-signature', 'The signature of method, path and time by the key of the device.'),
};

/** Returns the schema of a route of devices. The document of partners hides it. */
export const described = <Input extends object>(operationId: string, summary: string, input: Input) => ({
  hide: true,
  operationId,
  summary,
  tags: ['Door'],
  ...input,
});

/** The name of the function that returns the document. The document of partners has another one. */
const DECORATOR = 'doorDocument';

/** Serves the OpenAPI document of the routes of devices at /door/v1/openapi.json. */
export async function addDocument(door: Routes): Promise<void> {
  await door.register(swagger, {
    decorator: DECORATOR,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Floodgate door',
        version: '1.0.0',
        summary: 'Scans of passes, for the devices at the doors.',
        description:
          "Every answer has the envelope of the partners' API. How it works explains the scans, their hashes and " +
          'what a device decides without network.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: SCHEMES },
      security: [Object.fromEntries(Object.keys(SCHEMES).map((name) => [name, []]))],
    },
    transform: ({ schema, url }) => ({ schema: { ...schema, hide: url.endsWith('.json') }, url }),
  });
  const doorDocument = door.getDecorator<() => object>(DECORATOR);
  door.get('/openapi.json', { schema: { hide: true } }, doorDocument);
}
