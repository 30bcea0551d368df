import { expect, test } from 'vitest';
import { mistypedSettings } from './mistyped-settings.ts';
import names from './setting-names.json' with { type: 'json' };

const DELIVERY = ['DATABASE_URL', 'LOG_LEVEL', 'MAIL_FROM', 'MAIL_PER_SECOND', 'PORT', 'SMTP_URL'];
const found = (...given: string[]) =>
  mistypedSettings(DELIVERY, Object.fromEntries(given.map((name) => [name, 'x'])));

test.for([
  ['MAIL_FORM', ['MAIL_FROM']],
  ['MAIL_FROMM', ['MAIL_FROM']],
  ['MAILFROM', ['MAIL_FROM']],
  ['DATABASE_URI', ['DATABASE_URL']],
  ['LOGLEVEL', ['LOG_LEVEL']],
  ['MAIL_SENDER', ['MAIL_FROM', 'MAIL_PER_SECOND']],
  ['SMTP_HOST', ['SMTP_URL']],
] as const)('%s is reported as mistyped', ([name, likely]) => {
  expect(found(name)).toEqual([{ name, likely }]);
});

test('settings of other processes and unrelated variables are not reported', () => {
  expect(found(...names)).toEqual([]);
  expect(found('HOME', 'PATH', 'POST', 'PORTS', 'HOSTNAME', 'NODE_ENV', 'DATABASE_PASSWORD', 'MAIL')).toEqual(
    [],
  );
  expect(found('MAIL_SERVICE_HOST', 'MAIL_SERVICE_PORT_HTTP', 'MAIL_PORT', 'MAIL_PORT_25_TCP_ADDR')).toEqual(
    [],
  );
  // This process has no settings of a queue.
  expect(found('QUEUE_ADDRESS', 'WEBHOOK_PRIVATE')).toEqual([]);
});
