import type { TObject } from '@sinclair/typebox';
import { table } from './table.ts';

/** A process and its schema of the environment. */
type Reader = [process: string, schema: TObject];

/** Returns a table of the environment variables that these processes read, by the schema of each, as Markdown. */
export function describeSettings(schemas: Record<string, TObject>): string {
  const processes = Object.entries(schemas);
  const names = [...new Set(processes.flatMap(([, { properties }]) => Object.keys(properties)))];
  const rows = names.flatMap((name) => rowsOf(name, processes));
  return table(['variable', 'of', 'default', 'meaning'], rows);
}

/** A row for each meaning of the variable: mostly one, two where it means something else to a process. */
function rowsOf(name: string, processes: Reader[]): string[][] {
  const readers = processes.filter(([, { properties }]) => name in properties);
  const alike = Map.groupBy(readers, ([, { properties }]) => properties[name]!.description ?? '');
  return [...alike].map(([meaning, group]) => [
    `\`${name}\``,
    group.map(([process]) => process).join(', '),
    defaultsOf(name, group),
    meaning,
  ]);
}

/** The default of the first process, and of each that has another one. */
function defaultsOf(name: string, readers: Reader[]): string {
  const byDefault = Map.groupBy(readers, ([, schema]) => defaultOf(name, schema));
  const [[first] = [''], ...others] = byDefault;
  const named = others.map(([value, group]) => `${group.map(([process]) => process).join(', ')}: ${value}`);
  return named.length === 0 ? first : `${first} (${named.join('; ')})`;
}

function defaultOf(name: string, { properties, required = [] }: TObject): string {
  const { default: byDefault } = properties[name]! as { default?: string | number | boolean };
  if (byDefault !== undefined) return `\`${byDefault}\``;
  return required.includes(name) ? 'required' : '–';
}
