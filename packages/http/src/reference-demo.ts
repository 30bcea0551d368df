import { EXAMPLE_EVENT_REF } from '@floodgate/contract';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** The test event that the page at /docs calls if its reader changes nothing. */
export const ReferenceDemo = Type.Object({
  // A test key: anybody who can open the page can read it.
  secretKey: Type.String({ pattern: '^fg_test_[A-Za-z0-9_-]+$' }),
  eventRef: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
  tickets: Type.Array(Type.Object({ id: Type.Integer() }), { minItems: 1 }),
});

export type ReferenceDemo = Static<typeof ReferenceDemo>;

/** Returns the demo in the text of a demo.json; undefined if its key is not a test key. */
export function parseReferenceDemo(text: string): ReferenceDemo | undefined {
  const demo: unknown = JSON.parse(text);
  return Value.Check(ReferenceDemo, demo) ? demo : undefined;
}

/** Returns the OpenAPI document as JSON, with the demo's event and ticket in its examples. */
export function documentWithDemo(document: object, demo: ReferenceDemo | undefined): string {
  return JSON.stringify(document, (key, value: unknown) => {
    if (demo && value === EXAMPLE_EVENT_REF) return demo.eventRef;
    if (demo && key === 'organizedEventTicketID' && typeof value === 'number') return demo.tickets[0]!.id;
    return value;
  });
}
