import swagger from '@fastify/swagger';
import { fromJson, inputOf, valueOf } from '@floodgate/audit/input';
import { OwnPassword, type Operation } from '@floodgate/operators';
import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addAccountApi } from './account.ts';
import { callerOf, type ConsoleContext } from './operations.ts';
import { Problem, requireScope } from './principals.ts';

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
          'Send a token as `Authorization: Bearer fgo_…`. Each operation names the scope that it ' +
          'requires. A success has ' +
          'status 200 and the result as JSON. Any other answer is a problem (RFC 9457). Not here: ' +
          '`migrate` and `grant` need the role ' +
          'that owns the tables, `pass show` needs the private key of passes, `status` asks the queue, ' +
          'and `rehearse` acts as a partner.',
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
      for (const operation of Object.values(context.operations)) addRoute(api, operation, context);
      addAccountApi(api, context, ACCOUNT);
      api.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
      done();
    },
    { prefix: '/operator/v1' },
  );
}

const answers = { 200: Type.Unknown({ description: 'The result' }), default: Problem };

/** It belongs to a session, so it is no operation: the command line has none. */
const ACCOUNT = {
  operationId: 'accountPassword',
  summary: 'Change your own password, and end your other sessions',
  description: 'Requires the session of an operator, and no scope. A token has no password.',
  tags: ['access'],
  body: describe(OwnPassword),
  response: answers,
};

function addRoute(api: FastifyInstance, operation: Operation, { db }: ConsoleContext) {
  const { method, path, id, scope, summary, input, bodyLimitBytes } = operation;
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  const rest = Type.Omit(input, inPath);
  const hasRest = Object.keys(rest.properties).length > 0;
  const hasBody = method !== 'GET' && method !== 'DELETE';
  api.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(bodyLimitBytes !== undefined && { bodyLimit: bodyLimitBytes }),
    schema: {
      operationId: id,
      summary,
      description: `Requires the scope \`${scope}\`.`,
      tags: [scope.split(':')[0]!],
      ...(inPath.length > 0 && { params: describe(Type.Pick(input, inPath)) }),
      ...(hasRest && { [hasBody ? 'body' : 'querystring']: describe(rest) }),
      response: answers,
    },
    handler: async (request) => {
      const operator = requireScope(request, scope);
      return operation.run(db, sentInput(input, request), callerOf(operator));
    },
  });
}

/**
 * Returns the schema as JSON Schema, which has no types for times and regular expressions, and knows no
 * command line.
 */
function describe(schema: TSchema): object {
  return JSON.parse(
    JSON.stringify(schema, withoutOptions),
    (_key, node: Partial<Record<string, unknown>> | null) => {
      if (node?.['type'] === 'Date') return { ...node, type: 'string', format: 'date-time' };
      if (node?.['type'] !== 'RegExp') return node;
      return { type: 'string', pattern: node['source'], description: node['description'] };
    },
  ) as object;
}

function withoutOptions(key: string, value: unknown) {
  return key === 'option' && typeof value === 'string' ? undefined : value;
}

/** Returns the input in path, query and body. A field of the path replaces one of the body. */
function sentInput<Input extends TObject>(input: Input, { params, query, body }: FastifyRequest) {
  const [inPath, inQuery, inBody] = [params, query, body].map(
    (values) => new Map(Object.entries<unknown>({ ...Object(values) })),
  );
  return inputOf(input, (field, rule) => {
    if (inPath!.has(field)) return valueOf(rule, inPath!.get(field));
    return inBody!.has(field) ? fromJson(rule, inBody!.get(field)) : valueOf(rule, inQuery!.get(field));
  });
}
