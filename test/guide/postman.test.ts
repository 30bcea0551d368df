import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { operationsOf, readDocument } from '../harness/contract-document.ts';
import { startExample } from './example.ts';

interface Pair {
  key: string;
  value: string;
  disabled?: boolean;
}

interface Item {
  name: string;
  event: { script: { exec: string[] } }[];
  request: {
    method: string;
    header: Pair[];
    url: { raw: string; query: Pair[]; variable: Pair[] };
    body?: { raw: string };
  };
}

interface Collection {
  auth: { apikey: Pair[] };
  variable: Pair[];
  item: { item: Item[] }[];
}

const file = new URL('../../apps/docs/public/floodgate.postman_collection.json', import.meta.url);
const collection = JSON.parse(readFileSync(file, 'utf8')) as Collection;
const items = collection.item.flatMap(({ item }) => item);

test('the Postman collection has every operation', () => {
  const wanted = operationsOf(readDocument()).map(({ summary }) => summary);
  expect(items.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
});

test('the Postman collection sends no optional header unless its reader ticks it', () => {
  const headersOf = (name: string) => items.find((item) => item.name === name)!.request.header;
  for (const name of ['Register For Event', 'Register In Bulk']) {
    const sent = headersOf(name).filter(({ disabled }) => !disabled);
    expect(sent.map(({ key }) => key)).toEqual(['content-type', 'x-event-ref']);
    const keys = headersOf(name).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['idempotency-key', 'hold-for']));
  }
});

test('every parameter of the Postman collection has a value', () => {
  for (const { name, request } of items)
    for (const { key, value } of [...request.header, ...request.url.query, ...request.url.variable])
      expect([name, key, value]).toEqual([name, key, expect.stringMatching(/./)]);
});

/** Sends a request as Postman does: with the variables put in, and its script run on the answer. */
async function send({ request, event }: Item, variables: Map<string, string>): Promise<void> {
  const fill = (text: string) =>
    text.replaceAll(/\{\{([$\w]+)\}\}/g, (_, name: string) =>
      name === '$guid' ? randomUUID() : variables.get(name)!,
    );
  const auth = Object.fromEntries(collection.auth.apikey.map(({ key, value }) => [key, value]));
  const sent = request.header.filter(({ disabled }) => !disabled);
  const headers = [...sent, { key: auth['key']!, value: auth['value']! }];
  const query = request.url.query.filter(({ disabled }) => !disabled);
  const url = request.url.variable.reduce(
    (text, { key, value }) => text.replace(`:${key}`, value),
    request.url.raw,
  );
  const response = await fetch(fill(`${url}?${query.map(({ key, value }) => `${key}=${value}`).join('&')}`), {
    method: request.method,
    headers: headers.map(({ key, value }) => [key, fill(value)]),
    ...(request.body && { body: fill(request.body.raw) }),
  });
  const answer: unknown = await response.json();
  const pm = {
    response: { json: () => answer },
    test: (_name: string, check: () => void) => check(),
    expect: (value: unknown) => ({
      to: { equal: (wanted: unknown) => expect(value, JSON.stringify(answer)).toBe(wanted) },
    }),
    collectionVariables: { set: (name: string, value: unknown) => variables.set(name, String(value)) },
  };
  for (const { script } of event) runInNewContext(script.exec.join('\n'), { pm });
}

test('every request of the Postman collection is answered 00, in order, once the first three variables are set', async () => {
  const { variables: given, finalize, close } = await startExample();
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  variables.set('baseUrl', given.BASE).set('secretKey', given.SECRET_KEY).set('eventRef', given.EVENT_REF);
  // As in the demo. A reset frees its seats.
  expect(items.at(-1)!.name).toBe('Reset Test Event');
  expect(variables.get('soldOutTicketId')).toBe(given.SOLD_OUT_TICKET_ID);
  try {
    for (const item of items) {
      await send(item, variables);
      // As a worker does meanwhile.
      await finalize();
    }
  } finally {
    await close();
  }
  expect(variables.get('passReference')).toMatch(/^GALA-/);
});
