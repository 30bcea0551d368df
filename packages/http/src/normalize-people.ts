import { normalizePerson } from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';

type Visit = (value: unknown) => void;
type Node = { items?: unknown; properties?: Record<string, unknown> } | undefined;

/**
 * Makes the server normalize the people in every body, whatever route it is for, after the other hooks of the
 * route and just before the validation. So validation, duplicate detection, idempotency and what is stored
 * all see the same texts.
 */
export function normalizePeople(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const normalize = peopleIn(route.schema?.body);
    if (!normalize) return;
    route.preValidation = [
      ...[route.preValidation ?? []].flat(),
      (request, _reply, done) => {
        normalize(request.body);
        done();
      },
    ];
  });
}

/**
 * Returns a function that normalizes the people in a value of this schema. Undefined: the schema has none.
 * The value can be anything.
 */
export function peopleIn(schema: unknown): Visit | undefined {
  const { items, properties } = (schema as Node) ?? {};
  const visitItem = items === undefined ? undefined : peopleIn(items);
  if (visitItem) return (value) => Array.isArray(value) && value.forEach(visitItem);
  if (properties?.['fullName'] && properties['emailAddress']) return normalizePerson;
  const parts = Object.entries(properties ?? {}).flatMap(([name, part]) => {
    const visit = peopleIn(part);
    return visit ? [{ name, visit }] : [];
  });
  if (parts.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    for (const { name, visit } of parts) visit((value as Record<string, unknown>)[name]);
  };
}
