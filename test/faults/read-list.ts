import { parsePassReference } from '@floodgate/contract';
import { waitUntil } from '../harness/wait-until.ts';
import type { EventOnSale } from './events-on-sale.ts';

interface Page {
  registrations: { passReference: string; state: string }[];
  cursor: string;
  more: boolean;
}

/** Reads the whole list of a partner's registrations, each entry as "registration.confirmed 17". */
export async function readList(apiUrl: string, { fixture }: EventOnSale): Promise<string[]> {
  const headers = { 'x-secret-key': fixture.secretKey, 'x-event-ref': fixture.eventRef };
  const names: string[] = [];
  for (let [after, more] = ['0', true]; more;) {
    const url = `${apiUrl}/api/v1/events/registrations?limit=1000&after=${after}`;
    // 503 is "overloaded, try again" (90), which a partner does.
    const response = await waitUntil('the list is answered', async () => {
      const answer = await fetch(url, { headers });
      return answer.status !== 503 && answer;
    });
    if (!response.ok) throw new Error(`the list was answered ${response.status}`);
    const page = ((await response.json()) as { responseData: Page }).responseData;
    names.push(
      ...page.registrations.map(
        ({ passReference, state }) => `registration.${state} ${parsePassReference(passReference)?.serial}`,
      ),
    );
    [after, more] = [page.cursor, page.more];
  }
  return names;
}
