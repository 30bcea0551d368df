import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { describeSettings } from './describe-settings.ts';

test('a variable has a row for each of its meanings, with the defaults of all who read it', () => {
  const url = Type.String({ description: 'a URL' });
  const host = Type.String({ default: 'all', description: 'a or | b' });
  const port = (description: string) => Type.Integer({ default: 3000, description });
  const api = Type.Object({ URL: url, HOST: host, PORT: port('the port') });
  const command = Type.Object({ URL: Type.Optional(url), PORT: port('another port') });
  const worker = Type.Object({ URL: url, HOST: host, WORKERS: Type.Integer({ default: 4 }) });
  expect(describeSettings({ api, command, worker })).toBe(
    [
      '| variable | of | default | meaning |',
      '| --- | --- | --- | --- |',
      '| `URL` | api, command, worker | required (command: –) | a URL |',
      '| `HOST` | api, worker | `all` | a or \\| b |',
      '| `PORT` | api | `3000` | the port |',
      '| `PORT` | command | `3000` | another port |',
      '| `WORKERS` | worker | `4` |  |',
      '',
    ].join('\n'),
  );
});
