import type { Command } from '@commander-js/extra-typings';
import { answeringFromDatabase, tableOf, type Cli } from '@floodgate/command';
import { parseLimit, parseSince, parseText } from '@floodgate/command/arguments';
import type { AuditedState } from '@floodgate/database';

/** More of a change does not help a person; --json has it all. */
const SHOWN_CHARACTERS = 120;

/** `floodgate audit` */
export function addAuditCommand(program: Command, cli: Cli): void {
  const audit = program
    .command('audit')
    .description('who changed what, newest first')
    .option('--since <when>', 'only from then on: a time, or how long ago (90d, 12h)', parseSince)
    .option(
      '--subject <kind:id>',
      'only changes of this one, e.g. ticket:7 or key:0123456789abcdef',
      parseText,
    )
    .option('--limit <entries>', 'at most this many', parseLimit, 50);
  answeringFromDatabase(audit, cli, async (db, selection) => {
    const { readAuditLog } = await import('./audit-log.ts');
    const entries = await readAuditLog(db, selection);
    const rows = entries.map(({ at, actor, action, subject, before, after }) => {
      const change = differenceOf(before ?? {}, after ?? {});
      return { at, by: actor, action, subject, change };
    });
    return { document: entries, text: tableOf(rows) };
  });
}

/** Says what is different, as in `capacity 100 → 200`. */
function differenceOf(before: AuditedState, after: AuditedState): string {
  const names = Object.keys({ ...before, ...after });
  const told = (state: AuditedState, name: string) => JSON.stringify(state[name] ?? null);
  const differences = names
    .filter((name) => told(before, name) !== told(after, name))
    .map((name) => `${name} ${name in before ? `${told(before, name)} → ` : ''}${told(after, name)}`);
  const line = differences.join(', ');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
