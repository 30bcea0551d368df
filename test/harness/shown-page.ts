import { waitUntil } from './wait-until.ts';

/** Requests a page of the console until it has all that it shows: what takes long to read comes a little later. */
export const shownPage = (request: () => Promise<Response>): Promise<string> =>
  waitUntil('the page', async () => {
    const answer = await request();
    return !answer.headers.has('refresh') && (await answer.text());
  });

/** Returns the text of a page without its markup. */
export const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
