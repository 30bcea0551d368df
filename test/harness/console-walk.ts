import { FORMS } from '@floodgate/console/forms';

/** The things that addresses of pages and fields of forms name, by the name of the parameter. */
export type Examples = Readonly<Record<string, string | number>>;

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  id: string;
  method: string;
  /** The fields of its path, query and body. */
  fields: string[];
  summary: string;
}

interface Schema {
  properties?: Record<string, unknown>;
}

/** Reads the operations of the document of a console. */
export async function readOperations(baseUrl: string): Promise<DocumentedOperation[]> {
  const answer = await fetch(`${baseUrl}/operator/v1/openapi.json`);
  const { paths } = (await answer.json()) as {
    paths: Record<string, Record<string, OpenApiOperation>>;
  };
  return Object.values(paths).flatMap((methods) =>
    Object.entries(methods).map(([method, { operationId: id, summary, parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema.properties ?? {};
      return { id, method, summary, fields: [...parameters.map(({ name }) => name), ...Object.keys(body)] };
    }),
  );
}

interface OpenApiOperation {
  operationId: string;
  summary: string;
  parameters?: { name: string }[];
  requestBody?: { content: Partial<Record<string, { schema: Schema }>> };
}

/**
 * Returns an address for each page without parameters, and for each with parameters by these examples. Throws if
 * there is no example for one: a new page needs one here.
 */
export function addressesOf(routes: readonly string[], examples: Examples): string[] {
  return routes
    .filter((route) => !route.startsWith('/do/') && !route.includes('*') && !OLD.includes(route))
    .map((route) =>
      (route + (QUERIES[route] ?? '')).replaceAll(/:(\w+)/g, (_, name: string) => {
        const example = examples[name];
        if (example === undefined) throw new Error(`${route}: no example for ${name}`);
        return encodeURIComponent(String(example));
      }),
    );
}

/** Addresses of earlier releases, which lead to other pages. */
const OLD = ['/attendees', '/registrations'];

/** Pages that name in their query what they are about. */
const QUERIES: Readonly<Record<string, string>> = {
  '/events/:eventId/door/story': '?passReference=:passReference',
};

/** Returns the addresses of all forms, and of all their parts, with the things that they are about. */
export function formsOf(operations: readonly DocumentedOperation[], examples: Examples): string[] {
  return operations
    .filter(({ method, id }) => method !== 'get' && id !== 'accountPassword')
    .flatMap(({ id, fields }) => {
      const named = fields.flatMap((field) =>
        Object.hasOwn(examples, field) ? [[field, String(examples[field])]] : [],
      );
      const query = new URLSearchParams(named).toString();
      const parts = Object.keys(FORMS[id as keyof typeof FORMS]?.parts ?? {});
      return [`/do/${id}`, ...parts.map((part) => `/do/${id}/${part}`)].map((path) => `${path}?${query}`);
    });
}
