import type { Command } from '@commander-js/extra-typings';
import type { AuditEntry } from '@floodgate/audit';
import { tableOf, type Cli } from '@floodgate/command';
import { parseLimit, parseSince, parseText } from '@floodgate/command/arguments';
import type { AuditedState } from '@floodgate/database';
import { reading } from './reading.ts';

/** Limit of the table's column for changes; --json shows all. */
const SHOWN_CHARACTERS = 120;

/** `floodgate audit` */
export function addAuditCommand(program: Command, cli: Cli): void {
  reading(program, cli, async () => (await import('./console.ts')).auditOperations)(
    'audit',
    'auditList',
    textOf,
  )
    .description('list changes and their authors, newest first')
    .option('--since <when>', 'only changes after this time, or in this period (90d, 12h)', parseSince)
    .option('--subject <kind:id>', 'only changes of this thing, e.g. ticket:7', parseText)
    .option('--limit <entries>', 'maximum number of changes', parseLimit, 50);
}

function textOf(entries: AuditEntry[]): string {
  const rowOf = ({ at, actor: by, action, subject, before, after }: AuditEntry) => {
    return { at, by, action, subject, change: differenceOf(before ?? {}, after ?? {}) };
  };
  return tableOf(entries.map(rowOf));
}

/** Returns the fields that differ, as in `capacity 100 → 200`. */
function differenceOf(before: AuditedState, after: AuditedState): string {
  const names = Object.keys({ ...before, ...after });
  const line = names
    .map((name) => {
      const [old, now] = [before, after].map((state) => JSON.stringify(state[name] ?? null));
      return { name, old, now };
    })
    .filter(({ old, now }) => old !== now)
    .map(({ name, old, now }) => `${name} ${name in before ? `${old} → ` : ''}${now}`)
    .join(', ');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
