import { readFile } from 'node:fs/promises';
import type { ServiceName } from './services.ts';

/** One privilege of sql/grants. */
export interface Grant {
  kind: 'table' | 'sequence' | 'function';
  name: string;
  privilege: string;
  /** Null: the whole table. */
  columns: string[] | null;
}

/** Returns the statements that grant a service its privileges; the role is the psql variable `role`. */
export const readGrants = (service: ServiceName) =>
  readFile(new URL(`../../sql/grants/${service}.sql`, import.meta.url), 'utf8');

const STATEMENT = /^grant ([^;]+?)\s+on\s+(?:(sequence|function)\s+)?([\w,\s]+?)\s+to :"role";/gm;
const PRIVILEGE = /(\w+)(?: \(([^)]*)\))?(?:,|$)/g;

/** Returns what the statements grant. Throws if it does not understand one of them. */
export function parseGrants(text: string): Grant[] {
  const statements = [...text.matchAll(STATEMENT)];
  if (statements.length !== text.split(/^grant /m).length - 1)
    throw new Error('a grant is written in another way');
  return statements.flatMap(([, privileges, kind = 'table', names]) =>
    wordsOf(names!).flatMap((name) =>
      Array.from(privileges!.matchAll(PRIVILEGE), ([, privilege, columns]) => {
        return {
          kind: kind as Grant['kind'],
          name,
          privilege: privilege!,
          columns: columns ? wordsOf(columns) : null,
        };
      }),
    ),
  );
}

const wordsOf = (list: string) => list.split(',').map((word) => word.trim());
