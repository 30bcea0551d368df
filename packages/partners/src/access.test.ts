import { createServer } from '@floodgate/http';
import { createLogger } from '@floodgate/service';
import { expect, onTestFinished, test } from 'vitest';
import { authenticate } from './access.ts';

test('a caller whose access is not found in time gets 90', async () => {
  const app = createServer(createLogger('test', 'silent'));
  onTestFinished(() => app.close());
  const neverFound = () => new Promise<never>(() => {});
  app.addHook('onRequest', authenticate(neverFound, 50));
  app.get('/api/v1/events/tickets', () => 'unreachable');
  const headers = { host: 'localhost', 'x-secret-key': 'any' };
  const answer = await app.inject({ url: '/api/v1/events/tickets', headers });
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ responseCode: '90' });
});
