import { EXAMPLE_EVENT_REF } from '@floodgate/contract';

/** The test event that the page at /docs calls if its reader changes nothing. Written by `npm start`. */
export interface ReferenceDemo {
  secretKey: string;
  eventRef: string;
  tickets: readonly { id: number }[];
}

/** Returns the demo in the text of a demo.json; undefined if its key is not a test key: anybody who can open the page can read it. */
export function parseReferenceDemo(text: string): ReferenceDemo | undefined {
  const demo = JSON.parse(text) as ReferenceDemo;
  return demo.secretKey.startsWith('fg_test_') ? demo : undefined;
}

/** Returns the OpenAPI document as JSON, with the demo's event and ticket in its examples. */
export function documentWithDemo(document: object, demo: ReferenceDemo | undefined): string {
  return JSON.stringify(document, (key, value: unknown) => {
    if (demo && value === EXAMPLE_EVENT_REF) return demo.eventRef;
    if (demo && key === 'organizedEventTicketID' && typeof value === 'number') return demo.tickets[0]!.id;
    return value;
  });
}
