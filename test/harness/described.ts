import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import {
  operationsOf,
  readDocument,
  type Document,
  type Operation,
  type Schema,
} from './contract-document.ts';

/** Headers of HTTP itself, the same on every answer. A proxy adds "server". */
const OF_HTTP = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'server',
  'transfer-encoding',
];

interface WholeAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Checks values against an OpenAPI document as a strict client would. */
export class StrictReader {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #checks = new WeakMap<Schema, ValidateFunction>();

  constructor(document: Document) {
    this.#document = document;
    this.#ajv.addSchema(document, 'document');
  }

  /** Returns whether an operation reads or answers the value. */
  knows(value: unknown): boolean {
    const contents = operationsOf(this.#document).flatMap(({ requestBody, responses }) => [
      ...Object.values(responses),
      ...(requestBody ? [requestBody] : []),
    ]);
    return contents.some(({ content }) => this.#checkOf(content['application/json'].schema)(value));
  }

  /** Throws if the document has the operation, but not the answer's status, header or body. */
  assertDescribed(method: string, url: string, { status, headers, body }: WholeAnswer): void {
    const path = url.split('?', 1)[0]!;
    const operation = this.#find(method, path);
    if (!operation) return;
    const answer = `${method} ${path} ${status}`;
    const described = operation.responses[status];
    if (!described) throw new Error(`${answer} is not in the OpenAPI document`);
    const known = [...OF_HTTP, ...Object.keys(described.headers).map((name) => name.toLowerCase())];
    const undescribed = [...headers.keys()].filter((name) => !known.includes(name));
    if (undescribed.length > 0)
      throw new Error(`${answer}: headers not described: ${undescribed.join(', ')}`);
    const check = this.#checkOf(described.content['application/json'].schema);
    if (!check(body)) throw new Error(`${answer}: not as described: ${JSON.stringify(check.errors)}`);
  }

  /** Throws if the document describes no webhook message of this type, or describes it differently. */
  assertMessage(body: string): void {
    const message = JSON.parse(body) as { type: string };
    const { type } = message;
    const described = this.#document.webhooks[type];
    if (!described) throw new Error(`${type} is not in the OpenAPI document`);
    const check = this.#checkOf(described.post.requestBody!.content['application/json'].schema);
    if (!check(message)) throw new Error(`${type}: not as described: ${JSON.stringify(check.errors)}`);
  }

  /** Finds an operation as the API's router does: fixed names before parameters. */
  #find(method: string, path: string): Operation | undefined {
    const fits = (one: string) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
    const name = path in this.#document.paths ? path : Object.keys(this.#document.paths).find(fits);
    return name === undefined ? undefined : this.#document.paths[name]![method.toLowerCase()];
  }

  #checkOf(schema: Schema): ValidateFunction {
    const known = this.#checks.get(schema);
    if (known) return known;
    const check = this.#ajv.compile(schema.$ref ? { $ref: `document${schema.$ref}` } : schema);
    this.#checks.set(schema, check);
    return check;
  }
}

let today: StrictReader | undefined;

/** The reader of the committed document. */
export const strictReader = (): StrictReader => (today ??= new StrictReader(readDocument()));
