import { expect, test } from 'vitest';
import { CliEnvironment } from '@floodgate/command/read-settings';
import { describeCommands, describeSettings } from './describe-commands.ts';
import { buildProgram } from './program.ts';

test('the reference has a section for every command, with its arguments and options', () => {
  const reference = describeCommands(buildProgram({} as never));
  expect(reference).toContain(
    [
      '## floodgate partner limit',
      '',
      "limit a partner's requests, over all API processes together",
      '',
      '`floodgate partner limit [options] <partnerId> <requestsPerSecond>`',
      '',
      '|  | meaning |',
      '| --- | --- |',
      '| `<partnerId>` | the partner |',
      '| `<requestsPerSecond>` | 1 to 1000000, or "none" |',
      '| `--by <who>` | who is noted for the change; by default the user of this machine |',
      '| `--json` | print one JSON document |',
      '',
    ].join('\n'),
  );
  const titles = reference.match(/(?<=^## floodgate ).*/gm);
  expect(titles).toEqual(expect.arrayContaining(['migrate', 'key rotate', 'ticket list', 'audit']));
  expect(reference).not.toContain('floodgate help');
});

test('settings are a table of variables with defaults', () => {
  const lines = describeSettings(CliEnvironment).split('\n');
  expect(lines[0]).toBe('| variable | default | meaning |');
  expect(lines[2]).toMatch(/^\| `DATABASE_URL` \| required \| Postgres, postgres:/);
  expect(lines[3]).toMatch(/^\| `QUEUE_URL` \| – \| the queue: /);
  expect(lines[4]).toMatch(/^\| `QUEUE_NAMESPACE` \| `floodgate` \| separates /);
});
