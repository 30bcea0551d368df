import swagger from '@fastify/swagger';
import { fromJson, valueOf, type Operation } from '@floodgate/operators';
import { Type, type TProperties, type TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { runFor, type ConsoleContext } from './operations.ts';
import { Problem, requireScope } from './principals.ts';
import { shownTo } from './shown-to.ts';

/** Adds a route below /operator/v1 for each operation, and the OpenAPI document. */
export async function addOperatorApi(app: FastifyInstance, context: ConsoleContext) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Floodgate operator API',
        version: '1.0.0',
        summary: 'What the command line can do, for machines.',
        description:
          'Send a token as `Authorization: Bearer fgo_…`. Each operation names the scope that it requires. A success has ' +
          'status 200 and the result as JSON. Any other answer is a problem (RFC 9457). Not here: `migrate` and `grant` need the role ' +
          'that owns the tables, `pass show` needs the private key of passes, `status` asks the queue, and `rehearse` acts as a partner.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
  });
  await app.register(
    (api, _options, done) => {
      // Operations check their input themselves, with the rules of the command line. The schemas are documentation.
      api.setValidatorCompiler(() => () => true);
      api.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
      for (const operation of context.operations.values()) addRoute(api, operation, context);
      api.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
      done();
    },
    { prefix: '/operator/v1' },
  );
}

function addRoute(api: FastifyInstance, operation: Operation, context: ConsoleContext) {
  const { method, path, id, scope, summary, input } = operation;
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  const rest = Type.Omit(input, inPath);
  const hasRest = Object.keys(rest.properties).length > 0;
  const hasBody = method !== 'GET' && method !== 'DELETE';
  api.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: {
      operationId: id,
      summary,
      description: `Requires the scope \`${scope}\`.`,
      tags: [scope.split(':')[0]!],
      ...(inPath.length > 0 && { params: describe(Type.Pick(input, inPath)) }),
      ...(hasRest && { [hasBody ? 'body' : 'querystring']: describe(rest) }),
      response: { 200: Type.Unknown({ description: 'The result' }), default: Problem },
    },
    handler: async (request) => {
      const operator = requireScope(request, scope);
      return shownTo(
        operator,
        await runFor(context, operation, inputOf(request, input.properties), operator),
      );
    },
  });
}

/** Returns the schema as JSON Schema, which has no types for times and regular expressions. */
const describe = (schema: TSchema) =>
  JSON.parse(JSON.stringify(schema), (_key, node: Partial<Record<string, unknown>> | null) => {
    if (node?.['type'] === 'Date') return { ...node, type: 'string', format: 'date-time' };
    if (node?.['type'] !== 'RegExp') return node;
    return { type: 'string', pattern: node['source'], description: node['description'] };
  });

/** Returns the input in path, query and body. A field of the path replaces one of the body. */
function inputOf({ params, query, body }: FastifyRequest, properties: TProperties) {
  const read = (values: unknown, convert: typeof fromJson) =>
    Object.entries(values ?? {})
      .filter(([name]) => Object.hasOwn(properties, name))
      .map(([name, value]) => [name, convert(properties[name]!, value)] as const);
  return Object.fromEntries([...read(query, valueOf), ...read(body, fromJson), ...read(params, valueOf)]);
}
