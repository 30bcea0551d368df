import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { attendee } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';

const { test, given } = apiTest({ sharesEvent: true });

test('no cache on the way keeps what is answered to a key, refusals included', async () => {
  const ticketId = await given.gala.addTicket();
  const registered = await given.partner.register(attendee(ticketId));
  const answers = [
    registered,
    await given.partner.register('{'),
    await given.partner.register(attendee(ticketId), { 'x-secret-key': 'fg_' }),
    await given.partner.tickets(),
    await given.partner.registration(String(registered.body.responseData)),
    await given.partner.registration('GALA-1-1-1234567890'),
    await given.partner.request('/api/v1/events/tickets', { headers: { 'x-event-ref': '' } }),
  ];
  expect(answers.map(({ body }) => body.responseCode)).toEqual(['00', '10', '20', '00', '00', '34', '12']);
  for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store');
});

test.each(['/docs/static/nothing', '/docs/static/..%2f..%2fpackage.json', '/docs/nothing'])(
  'a file of the documentation that does not exist is answered without repeating its path: %s',
  async (path) => {
    const answer = await exchange(
      given.api.baseUrl,
      requestText(`GET ${path}?${given.gala.secretKey}`, { host: 'api' }),
    );
    expectFailure(answer, '60', 404);
    expect(answer.text).not.toContain(path);
    expect(answer.text).not.toContain(given.gala.secretKey);
  },
);
