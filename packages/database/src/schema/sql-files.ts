import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** A file of sql/tables or sql/functions. A function's file has its name. */
export interface SqlFile {
  name: string;
  kind: 'table' | 'function';
  text: string;
  hash: string;
}

const SQL = new URL('../../sql/', import.meta.url);

/** Returns the files in the order in which they are applied. */
export async function readSqlFiles(): Promise<SqlFile[]> {
  return [...(await readFolder('tables/', 'table')), ...(await readFolder('functions/', 'function'))];
}

async function readFolder(folder: string, kind: SqlFile['kind']): Promise<SqlFile[]> {
  const url = new URL(folder, SQL);
  const names = (await readdir(url)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, url), 'utf8');
      const hash = createHash('sha256').update(text).digest('hex');
      return { name: name.replace('.sql', ''), kind, text, hash };
    }),
  );
}
