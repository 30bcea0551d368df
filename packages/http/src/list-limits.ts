import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest, preValidationHookHandler } from 'fastify';

/** A list in a body that is longer than its schema allows, as the validator would report it. */
interface TooLong {
  instancePath: string;
  keyword: 'maxItems';
  params: { limit: number };
}

/** Appends each list in `value` that is too long, and empties it. */
type Shorten = (value: unknown, pointer: string, tooLong: TooLong[]) => void;

/**
 * Refuses a body with a list that is longer than its schema allows, before anything looks at the items. The
 * validator collects all faults, so it would check every item of such a list and join a sentence for each:
 * seconds of CPU for one call. The limits are those of the schemas (`maxItems`), so no route has to think of
 * it. The answer names the other invalid fields as well.
 */
export function limitLists(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const shorten = shortenerOf(route.schema?.body as TSchema | undefined);
    if (!shorten) return;
    // The first hook of the route: the others look at the items.
    route.preValidation = [refuseLongLists(shorten), route.preValidation ?? []].flat();
  });
}

function refuseLongLists(shorten: Shorten): preValidationHookHandler {
  return (request, _reply, done) => {
    const tooLong: TooLong[] = [];
    shorten(request.body, '', tooLong);
    if (tooLong.length === 0) return done();
    const validation = [...tooLong, ...otherFaults(request, tooLong)];
    return done(Object.assign(new Error('a list is too long'), { validation, validationContext: 'body' }));
  };
}

/** Returns the faults of a body outside of the lists that were too long. These are empty now. */
function otherFaults(request: FastifyRequest, lists: readonly TooLong[]) {
  const validate = request.getValidationFunction('body')!;
  if (validate(request.body)) return [];
  const paths = new Set(lists.map(({ instancePath }) => instancePath));
  return (validate.errors ?? []).filter(({ instancePath }) => !paths.has(instancePath));
}

/**
 * Returns a function that finds the lists of this schema in a value. Undefined: the schema has no list with a
 * limit.
 */
function shortenerOf(schema: TSchema | undefined): Shorten | undefined {
  if (!schema) return undefined;
  const ofList = schema['maxItems'] === undefined ? undefined : shortenList(schema['maxItems'] as number);
  const ofItem = shortenerOf(schema['items'] as TSchema | undefined);
  const ofFields = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>).flatMap(
    ([name, field]) => {
      const shorten = shortenerOf(field);
      return shorten ? [{ name, shorten }] : [];
    },
  );
  const ofVariants = [schema.anyOf, schema.allOf, schema.oneOf]
    .flat()
    .flatMap((variant) => shortenerOf(variant) ?? []);
  if (!ofList && !ofItem && ofFields.length === 0 && ofVariants.length === 0) return undefined;
  return (value, pointer, tooLong) => {
    ofList?.(value, pointer, tooLong);
    if (ofItem && Array.isArray(value))
      value.forEach((item, index) => ofItem(item, `${pointer}/${index}`, tooLong));
    for (const shorten of ofVariants) shorten(value, pointer, tooLong);
    if (typeof value !== 'object' || value === null) return;
    for (const { name, shorten } of ofFields)
      shorten((value as Record<string, unknown>)[name], `${pointer}/${name}`, tooLong);
  };
}

function shortenList(limit: number): Shorten {
  return (value, instancePath, tooLong) => {
    if (!Array.isArray(value) || value.length <= limit) return;
    value.length = 0;
    tooLong.push({ instancePath, keyword: 'maxItems', params: { limit } });
  };
}
