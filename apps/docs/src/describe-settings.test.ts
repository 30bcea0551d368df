import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { describeSettings } from './describe-settings.ts';

test('a variable is a row for all who read it alike, and another one for who does not', () => {
  const api = Type.Object({
    URL: Type.String({ description: 'a URL' }),
    HOST: Type.String({ default: 'all', description: 'a or | b' }),
  });
  const command = Type.Object({ URL: Type.Optional(api.properties.URL) });
  const worker = Type.Object({ ...api.properties, WORKERS: Type.Integer({ default: 4 }) });
  expect(describeSettings({ api, command, worker })).toBe(
    [
      '| variable | of | default | meaning |',
      '| --- | --- | --- | --- |',
      '| `URL` | api, worker | required | a URL |',
      '| `URL` | command | – | a URL |',
      '| `HOST` | api, worker | `all` | a or \\| b |',
      '| `WORKERS` | worker | `4` |  |',
      '',
    ].join('\n'),
  );
});
