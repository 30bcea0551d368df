import { createHash } from 'node:crypto';
import { fieldRule, isEmailAddress, RegistrationRequest } from '@floodgate/contract';
import type { TSchema } from '@sinclair/typebox';

/** A guest: the fields of a partner's request, and the reference that tells it from other guests. */
export interface Guest extends RegistrationRequest {
  partnerReference: string;
}

/** The texts of a request. */
export type GuestText = Exclude<keyof RegistrationRequest, 'organizedEventTicketID'>;

const REQUIRED: readonly string[] = RegistrationRequest.required ?? [];
const PROPERTIES = Object.entries<TSchema>(RegistrationRequest.properties);

/** The texts of a request, in its order. */
export const GUEST_TEXTS = PROPERTIES.map(([name]) => name).filter(isText);

function isText(name: string): name is GuestText {
  return name !== 'organizedEventTicketID' && Object.hasOwn(RegistrationRequest.properties, name);
}

/**
 * Returns the texts that break a rule of a partner's request, each with the rule in the words of the answer to
 * a partner. The texts are normalized already. Empty: all are valid.
 */
export function brokenRules(guest: Partial<Record<GuestText, string | null>>): Record<string, string> {
  const broken = GUEST_TEXTS.filter((name) => {
    const schema: TSchema = RegistrationRequest.properties[name];
    const text = guest[name] ?? null;
    return text === null ? REQUIRED.includes(name) : !isAllowed(schema, text);
  });
  return Object.fromEntries(broken.map((name) => [name, ruleOf(name)]));
}

const ruleOf = (name: string) => fieldRule(RegistrationRequest, `/${name}`).slice(`${name}: `.length);

/** Whether a text keeps the rules of its schema. Lengths count Unicode characters, as in the API. */
function isAllowed(schema: TSchema, text: string) {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema as TextRules;
  // A text has at least half as many characters as UTF-16 units.
  if (text.length > 2 * maxLength) return false;
  const { length } = Array.from(text);
  if (length < minLength || length > maxLength) return false;
  if (pattern !== undefined && !patternOf(pattern).test(text)) return false;
  return format !== 'email' || isEmailAddress(text);
}

interface TextRules {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

const patterns = new Map<string, RegExp>();
const patternOf = (pattern: string) => patterns.getOrInsertComputed(pattern, () => new RegExp(pattern, 'u'));

/** It says in lists that the reference is a digest. With 32 digits it fits into a reference. */
const DIGEST_PREFIX = 'guest-';

/**
 * Returns the reference of a guest who has none: a digest of name, address and ticket. Case, spaces and
 * composition of characters do not count, so the same person in another list has the same reference.
 */
export function identityOf({ fullName, emailAddress, organizedEventTicketID }: RegistrationRequest) {
  const name = fullName.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ');
  const content = JSON.stringify([name, emailAddress.toLowerCase(), organizedEventTicketID]);
  return DIGEST_PREFIX + createHash('sha256').update(content).digest('hex').slice(0, 32);
}
