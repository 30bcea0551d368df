import { globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { CONTRACT_VERSION } from '@floodgate/contract';
import { expect, test } from 'vitest';
import { createProject, runBlock } from '../guide/run-block.ts';
import { readDocument, type Document } from '../harness/contract-document.ts';
import { createTestDatabase } from '../harness/database.ts';
import { StrictReader } from '../harness/described.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { findBreaks } from './find-breaks.ts';

/** The contracts that were released, by version. */
const RELEASED = globSync('*.json', { cwd: import.meta.dirname }).map((file) => path.basename(file, '.json'));
const today = readDocument();

/** Differences that no client can notice, or only one that asked for them, and why. */
const ACCEPTED: Record<string, string> = {
  'getRegistration: 200.responseData.state: can be held': 'only where its partner has sent Hold-For',
  'registerForEvent: 409.responseCode: can be 37': 'only where the caller sends Hold-For',
  'registerForEvent: body.fullName: another pattern':
    'in a form that other languages can read; a name needs a visible character, which a refusal tells its caller',
  'registerForEvent: body.emailAddress: another pattern':
    'the rule of the service, which the document did not have',
  'registerForEvent: body.phoneNumber: another pattern': 'all numbers of before, and others',
  'registerForEvent: body.gender: another pattern': 'as fullName',
  'registerForEvent: body.tableOrSeat: another pattern': 'as fullName',
  'registerForEvent: body.extraData1: another pattern': 'as fullName',
  'registerForEvent: body.extraData2: another pattern': 'as fullName',
};

test.each(RELEASED)(
  'nothing that a client of contract %s relies on is gone, narrower, or new in an answer',
  (version) => {
    const breaks = findBreaks(readDocument(`../compatibility/${version}.json`), today);
    expect(breaks.filter((found) => !(found in ACCEPTED))).toEqual([]);
  },
);

type Change = [string, (document: Document) => void, string];

const register = ({ paths }: Document) => paths['/api/v1/events/register']!['post']!;
const schema = ({ components }: Document, name: string) => components.schemas![name]!;

test.each<Change>([
  ['an operation is gone', ({ paths }) => delete paths['/api/v1/events/tickets'], 'gone'],
  ['an operation has another id', (document) => (register(document).operationId = 'book'), 'otherwise'],
  [
    'a field is demanded',
    (document) => schema(document, 'RegistrationRequest').required!.push('gender'),
    'lacks gender',
  ],
  [
    'a field may be shorter only',
    (document) => (schema(document, 'RegistrationRequest').properties!['gender']!['maxLength'] = 31),
    'another maxLength',
  ],
  [
    'a field is no longer null',
    (document) => (schema(document, 'RegistrationRequest').properties!['gender']!.type = 'string'),
    'is null',
  ],
  [
    'a header is demanded',
    (document) => register(document).parameters.forEach((one) => (one.required = true)),
    'idempotency-key: is now required',
  ],
  [
    'an answer has one more field',
    (document) => (schema(document, 'Ticket').properties!['colour'] = { type: 'string' }),
    'is not known',
  ],
  [
    'an answer lacks a field',
    (document) => schema(document, 'Ticket').required!.pop(),
    'lacks lastModifiedDate',
  ],
  [
    'a number becomes text',
    (document) => (schema(document, 'Ticket').properties!['count']!.type = 'string'),
    'is string',
  ],
  [
    'a state is new',
    (document) => schema(document, 'RegistrationStatus').properties!['state']!.enum!.push('lapsed'),
    'can be lapsed',
  ],
  [
    'a code is new',
    (document) =>
      schema(document, 'RegisterForEventFailure409').properties!['responseCode']!.enum!.push('38'),
    'can be 38',
  ],
  [
    'a status is new',
    (document) => (register(document).responses['402'] = register(document).responses['409']!),
    '402',
  ],
  [
    'a header of answers is gone',
    (document) => delete register(document).responses['200']!.headers['x-request-id'],
    'lacks x-request-id',
  ],
])('it is noticed where %s', (_what, change, problem) => {
  const changed = structuredClone(today);
  change(changed);
  const found = findBreaks(today, changed);
  expect(found.length).toBeGreaterThan(0);
  expect(found.join()).toContain(problem);
});

test('the changelog of the API begins with the version of the contract', () => {
  const changelog = new URL('../../apps/docs/guide/api-changelog.md', import.meta.url);
  expect(/^## (\S+)/m.exec(readFileSync(changelog, 'utf8'))?.[1]).toBe(CONTRACT_VERSION);
  expect(today.info.version).toBe(CONTRACT_VERSION);
});

/** What a partner wrote against contract 1.0.0. */
const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './contract.d.ts';

const { BASE = '', SECRET_KEY = '', EVENT_REF = '' } = process.env;
const floodgate = createClient<paths>({ baseUrl: BASE, headers: { 'x-secret-key': SECRET_KEY } });
const header = { 'x-event-ref': EVENT_REF };
const seen: [string, string, Response, unknown][] = [];

const tickets = await floodgate.GET('/api/v1/events/tickets', { params: { header } });
seen.push(['GET', '/api/v1/events/tickets', tickets.response, tickets.data]);
const [ticket] = tickets.data!.responseData;
const body = { fullName: 'Jane Doe', emailAddress: 'jane@example.com', phoneNumber: null, organizedEventTicketID: ticket!.id };
for (const key of ['order-1', 'order-1', 'order-2']) {
  const { response, data, error } = await floodgate.POST('/api/v1/events/register', {
    params: { header: { ...header, 'idempotency-key': key } },
    body,
  });
  seen.push(['POST', '/api/v1/events/register', response, data ?? error]);
}
const passReference = (seen[1]![3] as { responseData: string }).responseData;
const path = { passReference };
const status = await floodgate.GET('/api/v1/events/registrations/{passReference}', { params: { header, path } });
seen.push(['GET', '/api/v1/events/registrations/' + passReference, status.response, status.data]);
console.log(JSON.stringify(seen.map(([method, url, response, answer]) => [method, url, response.status, [...response.headers], answer])));
`;

test.each(RELEASED)(
  'a client that was generated from contract %s works, and finds nothing unknown',
  async (version) => {
    const database = await createTestDatabase();
    const api = await startInProcessApi({ DATABASE_URL: database.url });
    const gala = await createFixture(database.db);
    await gala.addTicket({ capacity: 1 });
    const project = createProject(`compatibility-${version}`);
    const variables = { BASE: api.baseUrl, SECRET_KEY: gala.secretKey, EVENT_REF: gala.eventRef };
    const file = path.join(import.meta.dirname, `${version}.json`);
    const generate = { language: 'sh', code: `npx openapi-typescript ${file} -o contract.d.ts`, line: 0 };
    try {
      await runBlock(generate, project, variables);
      const printed = await runBlock({ language: 'ts', code: CLIENT, line: 1 }, project, variables);
      const answers = JSON.parse(printed) as [
        string,
        string,
        number,
        [string, string][],
        { responseCode: string },
      ][];
      expect(answers.map(([, , , , { responseCode }]) => responseCode)).toEqual([
        '00',
        '00',
        '00',
        '32',
        '00',
      ]);
      const reader = new StrictReader(readDocument(`../compatibility/${version}.json`));
      for (const [method, url, status, headers, body] of answers) {
        // Headers may come; who reads them asks for them by name.
        const known = new Headers(headers.filter(([name]) => name !== 'cache-control'));
        reader.assertDescribed(method, url, { status, headers: known, body });
      }
    } finally {
      await api.close();
      await database.drop();
      rmSync(project, { recursive: true });
    }
  },
);
