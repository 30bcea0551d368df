import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** A file of sql/tables or sql/functions. A function's file has its name. */
export type SqlFile = Awaited<ReturnType<typeof readSqlFiles>>[number];

const SQL = new URL('../../sql/', import.meta.url);

/** Returns the files in the order in which they are applied. */
export async function readSqlFiles() {
  return [...(await readFolder('tables')), ...(await readFolder('functions'))];
}

async function readFolder(folder: 'tables' | 'functions') {
  const names = (await readdir(new URL(folder, SQL))).toSorted();
  return Promise.all(
    names.map(async (file) => {
      const text = await readFile(new URL(`${folder}/${file}`, SQL), 'utf8');
      const hash = createHash('sha256').update(text).digest('hex');
      return { name: file.replace('.sql', ''), isFunction: folder === 'functions', text, hash };
    }),
  );
}
