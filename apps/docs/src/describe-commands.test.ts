import { expect, test } from 'vitest';
import { buildProgram } from '@floodgate/cli/program';
import { describeCommands } from './describe-commands.ts';

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
      '| `--by <who>` | name for the audit log; by default the user of this machine |',
      '| `--json` | print one JSON document |',
      '',
    ].join('\n'),
  );
  const titles = reference.match(/(?<=^## floodgate ).*/gm);
  expect(titles).toEqual(expect.arrayContaining(['migrate', 'key rotate', 'ticket list', 'audit']));
  expect(reference).not.toContain('floodgate help');
});
