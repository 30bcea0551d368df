import { expect, test } from 'vitest';
import { buildProgram } from '@floodgate/cli/program';
import { describeCommands } from './describe-commands.ts';

const reference = describeCommands(buildProgram({} as never));
const sectionOf = (title: string) =>
  reference.split(/^(?=## )/m).find((one) => one.startsWith(`## ${title}\n`));

test('the reference has a section for every command, with its arguments and options', () => {
  expect(sectionOf('partner limit')?.trim()).toBe(
    [
      '## partner limit',
      '',
      "`<partnerId> <requestsPerSecond> [--by] [--json]`: limit a partner's requests, over all API processes together",
      '',
      '- `<requestsPerSecond>`: 1 to 1000000, or "none"',
    ].join('\n'),
  );
  expect(sectionOf('event revoke')).toContain('`<eventId> <partnerId> [--by] [--json]`: close an event');
  const created = sectionOf('event create');
  expect(created).toContain('`<name> --prefix <letters> [--by] [--json]`: add an event');
  expect(created).toContain('- `--cancel-until <time>`: ');
  const titles = reference.match(/(?<=^## ).*/gm);
  expect(titles).toEqual(expect.arrayContaining(['migrate', 'key rotate', 'ticket list', 'audit']));
  expect(reference).not.toContain('## help');
});

test('what many commands share is described once', () => {
  const shared = sectionOf('Arguments and options of several commands');
  expect(shared).toContain('| `<partnerId>` | the partner |');
  expect(shared).toContain('| `--by <who>` | name for the audit log; by default the user of this machine |');
  expect(shared).toContain('| `--json` | print one JSON document |');
  expect(reference.match(/^.*print one JSON document/gm)).toHaveLength(1);
});

test('an option that an earlier command of the group describes is only named', () => {
  expect(sectionOf('ticket create')).toContain('- `--price <amount>`: its price, e.g. 12.50');
  expect(sectionOf('ticket update')).toMatch(/^- as for `ticket create`: .*`--price <amount>`/m);
  expect(sectionOf('ticket update')).not.toContain('its price');
  expect(sectionOf('queue status')).toContain('The same as `status`.');
});
