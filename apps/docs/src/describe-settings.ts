import type { TObject } from '@sinclair/typebox';
import { table } from './table.ts';

/** Returns a table of the environment variables that these processes read, by the schema of each, as Markdown. */
export function describeSettings(schemas: Record<string, TObject>): string {
  const processes = Object.entries(schemas);
  const names = [...new Set(processes.flatMap(([, { properties }]) => Object.keys(properties)))];
  const rows = names.flatMap((name) => rowsOf(name, processes));
  return table(['variable', 'of', 'default', 'meaning'], rows);
}

/** A row for all who read the variable alike: one mostly, two where it means something else to somebody. */
function rowsOf(name: string, processes: [string, TObject][]): string[][] {
  const readers = processes.filter(([, { properties }]) => name in properties);
  const alike = Map.groupBy(readers, ([, schema]) => JSON.stringify(defaultAndMeaning(name, schema)));
  return [...alike.values()].map((group) => [
    `\`${name}\``,
    group.map(([process]) => process).join(', '),
    ...defaultAndMeaning(name, group[0]![1]),
  ]);
}

function defaultAndMeaning(name: string, { properties, required = [] }: TObject): [string, string] {
  const { default: byDefault, description = '' } = properties[name]!;
  const absent = required.includes(name) ? 'required' : '–';
  return [byDefault === undefined ? absent : `\`${byDefault}\``, description];
}
