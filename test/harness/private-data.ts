/**
 * Data that partners send and receive in tests, and passwords. None of it may appear in a log line or in a
 * failed answer. Code that sends data registers it here, and code that ends a process searches its output for
 * it.
 */
const known = new Set<string>();

/** Shorter texts occur by chance. */
const MIN_LENGTH = 6;

const SECRET_HEADERS = ['x-secret-key', 'idempotency-key'];
const ATTENDEE_FIELDS = [
  'fullName',
  'emailAddress',
  'phoneNumber',
  'gender',
  'tableOrSeat',
  'extraData1',
  'extraData2',
];

/**
 * Anything that looks like a secret key, a password in a URL (except in the rule of DATABASE_URL, which
 * messages quote) or an attendee's address.
 */
const PATTERNS = [
  /fg(?:o|_test)?_[0-9a-f]{16}_[\w-]{43}/,
  /:\/\/(?!user:password@host)[^\s:/@]*:[^\s/@]+@/,
  /[\w.+-]+@(?:[\w-]+\.)*example\b/i,
];

/** Forgets all texts. */
export const forgetPrivate = (): void => known.clear();

/** Remembers texts that must stay private. */
export function keepPrivate(texts: readonly unknown[]): void {
  for (const text of texts)
    if (typeof text === 'string' && text.trim().length >= MIN_LENGTH) known.add(text.trim());
}

/** Returns the private texts of a request: its secret headers and the attendee's data in its body. */
export function privateIn(headers: Record<string, string>, body?: unknown): string[] {
  const secretKey = headers['x-secret-key'] ?? '';
  const texts = [...SECRET_HEADERS.map((name) => headers[name]), secretKey.slice(-43), ...attendeeData(body)];
  return texts.filter((text) => typeof text === 'string' && text.trim().length >= MIN_LENGTH) as string[];
}

function attendeeData(body: unknown): unknown[] {
  try {
    const fields: unknown = JSON.parse(String(body));
    return fields ? ATTENDEE_FIELDS.map((name) => (fields as Record<string, unknown>)[name]) : [];
  } catch {
    return [];
  }
}

/** Throws if a text contains one of `texts` (by default all registered ones). The error names it. */
export function assertNothingPrivate(where: string, text: string, texts: Iterable<string> = known): void {
  const found = [...texts].filter(
    (one) => text.includes(one) || text.includes(JSON.stringify(one).slice(1, -1)),
  );
  const alike = PATTERNS.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
  if (found.length + alike.length === 0) return;
  throw new Error(`${where} tells what is private: ${JSON.stringify([...found, ...alike])}\n${text}`);
}
