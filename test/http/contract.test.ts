import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { COMMON_FAILURES, escapeInvisible, RESPONSE_CODES, type FailureCode } from '@floodgate/contract';
import { describe, expect } from 'vitest';
import { generateClientContract, generateClientRules, typeOf } from '../client/generate-contract.ts';
import { operationsOf, resolve, type Document } from '../harness/contract-document.ts';
import { canRun, python } from '../guide/run-block.ts';
import { apiTest } from '../harness/api-test.ts';

const { test, given } = apiTest({ sharesEvent: true });

test.override('apiSettings', { CONTACT_URL: 'mailto:api@example.com' });

let document: Document;

test.beforeAll(async () => {
  document = (await (await fetch(`${given.api.baseUrl}/api/v1/openapi.json`)).json()) as Document;
});

test('the document that the linters, the clients and the site read is the one that is served', async () => {
  const { contact, ...info } = document.info;
  expect(contact).toEqual({ name: 'The operator of this service', url: 'mailto:api@example.com' });
  const published = { ...document, info: { ...info, contact: { name: contact.name } } };
  // `npm test -- contract -u` writes it.
  await expect(escapeInvisible(`${JSON.stringify(published, null, 2)}\n`)).toMatchFileSnapshot(
    '../../apps/docs/public/openapi.json',
  );
});

test('the contract of the client is generated from the same document', async () => {
  await expect(await generateClientContract(document)).toMatchFileSnapshot(
    '../../packages/client/src/contract.ts',
  );
});

test('the rules of the client are those of the service', async () => {
  await expect(await generateClientRules()).toMatchFileSnapshot('../../packages/client/src/rules.ts');
});

test('the results of the client have the data of the document', () => {
  const file = new URL('../../packages/client/src/results.ts', import.meta.url);
  const fields = readFileSync(file, 'utf8').matchAll(/^ {2}(\w+): \{ \w+: (?:Contract\.)?([\w[\]]+) \};$/gm);
  const named = Object.fromEntries(Array.from(fields, ([, operation, type]) => [operation, type]));
  const described = operationsOf(document).map(({ operationId, responses }) => {
    const answer = resolve(document, responses['200']!.content['application/json'].schema);
    const type = typeOf(answer.properties!['responseData']!).replace(/^\((.*)\)\[\]$/, '$1[]');
    return [operationId, type.replace('BulkItem[]', 'BulkItemResult[]')];
  });
  expect(named).toEqual(Object.fromEntries(described));
});

test('the document says under which licence, and what each tag is about', () => {
  expect(document.info.license).toEqual({ name: 'MIT', identifier: 'MIT' });
  for (const { description } of document.tags) expect(description).not.toBe('');
});

describe('each operation', () => {
  test('has an id, words, and one tag that is described', () => {
    const tags = document.tags.map(({ name }) => name);
    for (const { path, operationId, summary, description, tags: own } of operationsOf(document)) {
      expect([path, own.length, tags.includes(own[0]!)]).toEqual([path, 1, true]);
      for (const text of [operationId, summary, description])
        expect([path, text]).toEqual([path, expect.any(String)]);
    }
  });

  // Tools would send the example of an optional parameter.
  test('describes all parameters and headers, each with an example unless it is optional in a request', () => {
    for (const { path, parameters, responses } of operationsOf(document)) {
      const headers = Object.values(responses).flatMap((response) =>
        Object.entries(response.headers).map(([name, { description, schema }]) => ({
          name,
          description,
          example: schema.examples?.[0],
          required: true,
        })),
      );
      for (const { name, description, example, required } of [...parameters, ...headers])
        expect([path, name, description, example !== undefined]).toEqual([
          path,
          name,
          expect.any(String),
          required,
        ]);
    }
  });

  test('names the schemas of its body and of its answers', () => {
    for (const { path, requestBody, responses } of operationsOf(document)) {
      const contents = [...Object.values(responses), ...(requestBody ? [requestBody] : [])];
      for (const { content } of contents)
        expect([path, content['application/json'].schema]).toEqual([
          path,
          { $ref: expect.any(String) as string },
        ]);
    }
  });

  test('has an example of its body, and of each code that it may answer, and lists these codes', () => {
    for (const { path, requestBody, responses } of operationsOf(document)) {
      if (requestBody)
        expect([path, requestBody.content['application/json'].example]).not.toEqual([path, undefined]);
      for (const [status, { content }] of Object.entries(responses)) {
        const { schema, examples } = content['application/json'];
        const { responseCode } = resolve(document, schema).properties!;
        const codes = responseCode!.enum ?? [responseCode!.const];
        const shown = Object.values(examples!).map(({ value }) => value.responseCode);
        expect([path, status, shown]).toEqual([path, status, codes]);
      }
    }
  });

  test('may fail as every operation may', () => {
    for (const { path, responses } of operationsOf(document)) {
      const statuses = COMMON_FAILURES.map((code: FailureCode) => RESPONSE_CODES[code].httpStatuses[0]);
      for (const status of statuses)
        expect([path, Object.keys(responses)]).toEqual([path, expect.arrayContaining([String(status)])]);
    }
  });
});

describe('limits are what is enforced:', () => {
  const send = async (
    path: string,
    method: string,
    init: { headers?: Record<string, string>; body?: string },
  ) => {
    const caller = { 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef };
    const headers = { ...caller, 'content-type': 'application/json', ...init.headers };
    const response = await fetch(given.api.baseUrl + path, {
      ...init,
      method: method.toUpperCase(),
      headers,
    });
    const { responseCode } = (await response.json()) as { responseCode: string };
    return `${response.status} ${responseCode}`;
  };

  test('of bodies', async () => {
    const withBody = operationsOf(document).filter(({ requestBody }) => requestBody);
    for (const { path, method, description } of withBody) {
      const bytes = Number(/at most (\d+) KiB\.$/.exec(description)![1]) * 1024;
      // Blanks are not JSON, but that is found out only once they are read.
      expect([path, await send(path, method, { body: ' '.repeat(bytes) })]).toEqual([path, '400 10']);
      expect([path, await send(path, method, { body: ' '.repeat(bytes + 1) })]).toEqual([path, '413 10']);
    }
    expect(withBody.length).toBeGreaterThan(1);
  });

  test('of headers', async () => {
    for (const { path: template, method, parameters, requestBody } of operationsOf(document)) {
      const body = JSON.stringify(requestBody?.content['application/json'].example);
      // What the path names is unknown, but it has the right form.
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name) =>
        String(parameters.find((parameter) => parameter.name === name)!.example),
      );
      for (const { name, schema } of parameters.filter(
        ({ schema: { maxLength } }) => maxLength !== undefined,
      )) {
        const answerTo = (length: number) =>
          send(path, method, { headers: { [name]: 'a'.repeat(length) }, ...(body && { body }) });
        expect([path, name, await answerTo(Number(schema['maxLength']))]).not.toEqual([path, name, '422 11']);
        expect([path, name, await answerTo(Number(schema['maxLength']) + 1)]).toEqual([path, name, '422 11']);
      }
    }
  });
});

function patternsOf(described: Document): string[] {
  const found = new Set<string>();
  JSON.stringify(described, (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string') found.add(value);
    return value;
  });
  return [...found];
}

test('patterns need nothing that regular expressions of other languages lack', () => {
  // Look-around is not in Go, nor in the Rust that pydantic uses; \p and \u are not in Python.
  expect(patternsOf(document).length).toBeGreaterThan(3);
  expect(patternsOf(document).filter((pattern) => /\(\?(?!:)|\\[pPuUkdDwWsSbB1-9]/.test(pattern))).toEqual(
    [],
  );
});

/** Values on both sides of the borders of the patterns. */
const VALUES = [
  '', '0', '00', '1', '100', '1000', '1001', '9'.repeat(15), '9'.repeat(16), 'Jane Doe', 'Jürgen 𝒳', 'a\u0000b', 'a\u001fb', 'a\u007fb',
  'a\u0085b', 'a\u00a0b', '\u200b', '\u3164 x', 'a\u202eb', 'jane@example.com', 'l'.repeat(65), '1234', '+44', '123', '12-4', '----', '+--1', '(1) 2', '(+)1', '(+)-1', '1'.repeat(40), 'https://partner.example/hook', '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f', '12a4', 'key-1', 'key 1', 'ké',
]; // prettier-ignore

test.skipIf(!canRun('python'))('Python reads every pattern, and finds what JavaScript finds', () => {
  const patterns = patternsOf(document);
  const script =
    'import json, re, sys\npatterns, values = json.load(sys.stdin)\n' +
    'print(json.dumps([[bool(re.search(pattern, value)) for value in values] for pattern in patterns]))';
  const found: unknown = JSON.parse(
    execFileSync(python ?? 'python3', ['-c', script], {
      input: JSON.stringify([patterns, VALUES]),
      encoding: 'utf8',
    }),
  );
  const expected = patterns.map((pattern) => VALUES.map((value) => new RegExp(pattern, 'u').test(value)));
  expect(found).toEqual(expected);
  // Both answers of each: a pattern that takes or refuses everything here would show nothing.
  for (const row of expected) expect(new Set(row).size).toBe(2);
});
