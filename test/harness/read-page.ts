import { readJournal, type JournalPage } from '@floodgate/journal';

/** Reads a page of the journal from a readable cursor. */
export async function readPage(...from: Parameters<typeof readJournal>): Promise<JournalPage> {
  const page = await readJournal(...from);
  if (typeof page === 'string') throw new Error(page);
  return page;
}
