import { OPERATION_FAILURES } from '@floodgate/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';

let database: TestDatabase;
let api: InProcessApi;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startInProcessApi({ DATABASE_URL: database.url });
});

afterAll(async () => {
  await api.close();
  await database.drop();
});

interface OperationObject {
  operationId: string;
  responses: Record<string, { description: string }>;
}

test('the client knows exactly the failures of each operation that it calls', async () => {
  const response = await fetch(`${api.baseUrl}/api/v1/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, OperationObject>> };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const served = new Map(operations.map(({ operationId, responses }) => [operationId, codesOf(responses)]));
  for (const [operation, codes] of Object.entries(OPERATION_FAILURES)) {
    expect(new Set(codes), operation).toEqual(served.get(operation));
  }
});

/** The failures that an operation's answers are described with: "90: Overloaded …". */
function codesOf(responses: OperationObject['responses']): Set<string> {
  const codes = Object.values(responses).flatMap(({ description }) =>
    Array.from(description.matchAll(/^(\d\d): /gm), ([, code]) => code!),
  );
  return new Set(codes.filter((code) => code !== '00'));
}
