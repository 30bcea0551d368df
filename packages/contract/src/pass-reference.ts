const PASS_REFERENCE = /^([A-Z][A-Z0-9]{1,7})-([1-9][0-9]{0,9})-([1-9][0-9]{0,14})-([1-9][0-9]{9})$/;

/** What a pass reference is made of: `<prefix>-<eventId>-<serial>-<passCode>`. */
export interface PassReferenceParts {
  prefix: string;
  eventId: number;
  /** Unique over all events. */
  serial: number;
  /** Ten digits that cannot be guessed. */
  passCode: number;
}

export function formatPassReference({ prefix, eventId, serial, passCode }: PassReferenceParts): string {
  return `${prefix}-${eventId}-${serial}-${passCode}`;
}

/** Takes a pass reference apart; null where the text cannot be one. */
export function parsePassReference(text: string): PassReferenceParts | null {
  const match = PASS_REFERENCE.exec(text);
  if (!match) return null;
  const [, prefix, eventId, serial, passCode] = match;
  return { prefix: prefix!, eventId: Number(eventId), serial: Number(serial), passCode: Number(passCode) };
}
