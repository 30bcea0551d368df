import {
  operationsOf,
  resolve,
  type Document,
  type Operation,
  type Schema,
} from '../harness/contract-document.ts';

/** Returns what a client of the older contract could stumble over, in words; nothing where it can go on as it is. */
export function findBreaks(older: Document, today: Document): string[] {
  const now = new Map(
    operationsOf(today).map((operation) => [`${operation.method} ${operation.path}`, operation]),
  );
  return operationsOf(older).flatMap((before) => {
    const name = `${before.method} ${before.path}`;
    const after = now.get(name);
    if (!after) return [`${name}: gone`];
    const found = [
      ...(before.operationId === after.operationId ? [] : ['is called otherwise']),
      ...sentBreaks({ before, after, older, today }),
      ...answeredBreaks({ before, after, older, today }),
    ];
    return found.map((problem) => `${before.operationId}: ${problem}`);
  });
}

interface Pair {
  before: Operation;
  after: Operation;
  older: Document;
  today: Document;
}

/** What was accepted has to be accepted. */
function sentBreaks({ before, after, older, today }: Pair): string[] {
  const wide = (schema: Schema) => ({ document: today, schema });
  const narrow = (schema: Schema) => ({ document: older, schema });
  const parameters = before.parameters.flatMap(({ name, schema }) => {
    const same = after.parameters.find((one) => one.name === name);
    return same ? refusals(wide(same.schema), narrow(schema), name) : [`${name}: no longer read`];
  });
  const demandedBefore = before.parameters.filter(({ required }) => required).map(({ name }) => name);
  const demanded = after.parameters.filter(
    ({ name, required }) => required && !demandedBefore.includes(name),
  );
  const bodies = [before, after].map((one) => one.requestBody?.content['application/json'].schema);
  return [
    ...parameters,
    ...demanded.map(({ name }) => `${name}: is now required`),
    ...(bodies[0] && bodies[1] ? refusals(wide(bodies[1]), narrow(bodies[0]), 'body') : []),
    ...(bodies[0] || !bodies[1] ? [] : ['body: is now read']),
  ];
}

/** What is answered has to be something that was described. */
function answeredBreaks({ before, after, older, today }: Pair): string[] {
  return Object.entries(after.responses).flatMap(([status, { content, headers }]) => {
    const described = before.responses[status];
    if (!described) return [`${status}: was never answered`];
    const lost = Object.keys(described.headers).filter((name) => !(name in headers));
    const wide = { document: older, schema: described.content['application/json'].schema };
    const narrow = { document: today, schema: content['application/json'].schema };
    return [...lost.map((name) => `${status}: lacks ${name}`), ...refusals(wide, narrow, status)];
  });
}

interface Placed {
  document: Document;
  schema: Schema;
}

/** What `wide` may refuse of what `narrow` allows. A pattern or format is compared as text. */
function refusals(wide: Placed, narrow: Placed, place: string): string[] {
  const [outer, inner] = [wide, narrow].map(({ document, schema }) => resolve(document, schema)) as [
    Schema,
    Schema,
  ];
  const below = (part: (schema: Schema) => Schema | undefined, name: string) => {
    const [theirs, ours] = [part(outer), part(inner)];
    if (!ours) return [];
    if (!theirs) return [`${place}${name}: is not known`];
    return refusals({ ...wide, schema: theirs }, { ...narrow, schema: ours }, `${place}${name}`);
  };
  return [
    ...ownRefusals(outer, inner).map((problem) => `${place}: ${problem}`),
    ...Object.keys(inner.properties ?? {}).flatMap((name) =>
      below(({ properties }) => properties?.[name], `.${name}`),
    ),
    ...(inner.anyOf ?? []).flatMap((_, index) => below(({ anyOf }) => anyOf?.[index], `|${index}`)),
    ...below(({ items }) => items, '[]'),
  ];
}

function ownRefusals(outer: Schema, inner: Schema): string[] {
  const missing = (allowed: unknown[], wanted: unknown[]) => wanted.filter((one) => !allowed.includes(one));
  const types = missing([outer.type].flat(), [inner.type].flat());
  const values = valuesOf(outer) && missing(valuesOf(outer)!, valuesOf(inner) ?? ['any']);
  const fields = missing(inner.required ?? [], outer.required ?? []);
  const texts = ['pattern', 'format'].filter(
    (name) => outer[name] !== undefined && outer[name] !== inner[name],
  );
  const borders = BORDERS.filter(([name, isOutside]) =>
    isOutside(outer[name] as number, inner[name] as number),
  );
  const isClosed = outer.additionalProperties === false && inner.additionalProperties !== false;
  return [
    ...types.map((type) => `is ${String(type)}`),
    ...(values ?? []).map((value) => `can be ${String(value)}`),
    ...fields.map((name) => `lacks ${String(name)}`),
    ...texts.map((name) => `another ${name}`),
    ...borders.map(([name]) => `another ${name}`),
    ...(isClosed ? ['may have more fields'] : []),
  ];
}

const valuesOf = ({ enum: values, const: value }: Schema) =>
  values ?? (value === undefined ? undefined : [value]);

const above = (outer?: number, inner = Infinity) => outer !== undefined && inner > outer;
const under = (outer?: number, inner = -Infinity) => outer !== undefined && inner < outer;
const BORDERS = [
  ['maxLength', above],
  ['maximum', above],
  ['maxItems', above],
  ['minLength', under],
  ['minimum', under],
  ['minItems', under],
] as const;
