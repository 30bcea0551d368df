import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Id, instantOrNull, Name, oneOf, text, whole } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { isEmailAddress, normalizeEmail } from '@floodgate/contract';
import { Failure, NotFound } from '@floodgate/service/failure';
import { issueKey, revokeKey, rotateKey } from './keys.ts';
import { createPartner, disablePartner, limitPartner, setContact, weighPartner } from './partners.ts';

const CONTACT_RULE = 'an e-mail address, or none';
const ContactOrNull = Type.Union([text(1, 254), Type.Null()], { description: CONTACT_RULE });

function prepareContact(given: Record<string, unknown>) {
  const { contactEmail } = given;
  return typeof contactEmail === 'string' ? { ...given, contactEmail: normalizeEmail(contactEmail) } : given;
}

const checkContact = ({ contactEmail }: { contactEmail?: string | null }): Record<string, string> =>
  typeof contactEmail === 'string' && !isEmailAddress(contactEmail) ? { contactEmail: CONTACT_RULE } : {};

/** The audit log keeps only whether a contact is set, because the address is personal data. */
const auditedContact = (contactEmail: string | null) => (contactEmail === null ? 'none' : 'set');

export const createPartnerAction = defineAction({
  name: 'partner.create',
  input: Type.Object({ name: Name, contactEmail: typedAs('--contact', Type.Optional(ContactOrNull)) }),
  prepare: prepareContact,
  check: checkContact,
  refusals: { partners_name_key: 'a partner of this name already exists' },
  run: async (db, { name, contactEmail = null }, note) => {
    const partner = await createPartner(db, name, contactEmail);
    note(`partner:${partner.id}`, { after: { name, ...(contactEmail !== null && { contact: 'set' }) } });
    return partner;
  },
});

/** Sets the contact address of a partner; null removes it. */
export const contactPartnerAction = defineAction({
  name: 'partner.contact',
  input: Type.Object({ partnerId: Id, contactEmail: typedAs('<contact>', ContactOrNull) }),
  prepare: prepareContact,
  check: checkContact,
  run: async (db, { partnerId, contactEmail }, note) => {
    const before = await setContact(db, partnerId, contactEmail);
    const contact = before && contactEmail ? 'changed' : auditedContact(contactEmail);
    const change = { before: { contact: auditedContact(before) }, after: { contact } };
    if (before !== contactEmail) note(`partner:${partnerId}`, change);
    return { partnerId, contactEmail };
  },
});

const PerSecond = whole(1, 1_000_000);
const OrNone = { description: `${PerSecond.description}, or none` };
const PerSecondOrNull = Type.Union([PerSecond, Type.Null()], OrNone);

/** Limits a partner's requests, over all API processes together; null removes the limit. */
export const limitPartnerAction = defineAction({
  name: 'partner.limit',
  input: Type.Object({ partnerId: Id, requestsPerSecond: PerSecondOrNull }),
  run: async (db, { partnerId, requestsPerSecond }, note) => {
    const before = await limitPartner(db, partnerId, requestsPerSecond);
    note(`partner:${partnerId}`, { before: { requestsPerSecond: before }, after: { requestsPerSecond } });
    return { partnerId, requestsPerSecond };
  },
});

/**
 * Sets the weight of a partner: its share if partners compete for seats, relative to other partners. The
 * default is 1.
 */
export const weighPartnerAction = defineAction({
  name: 'partner.weigh',
  input: Type.Object({ partnerId: Id, weight: whole(1, 100) }),
  run: async (db, { partnerId, weight }, note) => {
    const before = await weighPartner(db, partnerId, weight);
    note(`partner:${partnerId}`, { before: { weight: before }, after: { weight } });
    return { partnerId, weight };
  },
});

/** Refuses every key of a partner and stops its webhooks, until it is enabled again. Applies everywhere within 2 s. */
export const disablePartnerAction = defineAction({
  name: 'partner.disable',
  input: Type.Object({ partnerId: Id, disabled: Flag }),
  run: async (db, { partnerId, disabled }, note) => {
    const before = await disablePartner(db, partnerId, disabled);
    if (before !== disabled)
      note(`partner:${partnerId}`, { before: { disabled: before }, after: { disabled } });
    return { partnerId, disabled };
  },
});

const TEN_YEARS_MS = 3_650 * 86_400_000;

const KeyId = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description:
    '16 of 0–9 and a–f: the part of a secret key between "fg_" or "fg_test_" and the next "_"; never ' +
    'send the whole key',
});

const EXPIRY_RULE = 'a time in the future, or never';
const Expiry = typedAs('--expires', Type.Optional(instantOrNull(EXPIRY_RULE)));

/** A key that has already expired must be a mistake. */
function checkExpiry({ expiresAt }: { expiresAt?: Date | null }): Record<string, string> {
  return expiresAt && expiresAt.getTime() <= Date.now() ? { expiresAt: EXPIRY_RULE } : {};
}

const KeyMode = Type.Optional(oneOf(['live', 'test'], 'live or test'));

/**
 * Issues a key to a partner, by default for live events and without expiry. Only the result contains its
 * secret.
 */
export const issueKeyAction = defineAction({
  name: 'key.issue',
  input: Type.Object({ partnerId: Id, expiresAt: Expiry, mode: KeyMode }),
  check: checkExpiry,
  refusals: { secret_keys_partner_id_fkey: 'no such partner' },
  run: async (db, { partnerId, expiresAt = null, mode = 'live' }, note) => {
    const { keyId, secretKey } = await issueKey(db, partnerId, expiresAt, mode);
    note(`key:${keyId}`, { after: { partnerId, mode, expiresAt } });
    return { keyId, secretKey, partnerId, mode, expiresAt };
  },
});

/** Issues a successor to an open key. The old key works until the overlap ends. */
export const rotateKeyAction = defineAction({
  name: 'key.rotate',
  input: Type.Object({
    keyId: KeyId,
    overlapMs: Type.Integer({
      minimum: 0,
      maximum: TEN_YEARS_MS,
      description: `milliseconds, from 0 to ${TEN_YEARS_MS}`,
      option: '--overlap',
    }),
    expiresAt: Expiry,
  }),
  check: checkExpiry,
  run: async (db, { keyId, overlapMs, expiresAt: wantedEnd }, note) => {
    const rotated = await rotateKey(db, keyId, overlapMs, wantedEnd);
    if (!rotated) throw new Failure('no such key, or it is revoked or expired');
    const { previousKeyExpiredAt, ...result } = rotated;
    const { keyId: successor, expiresAt, previousKeyEndsAt } = result;
    const before = { expiresAt: previousKeyExpiredAt };
    note(`key:${keyId}`, { before, after: { expiresAt: previousKeyEndsAt, successor } });
    note(`key:${successor}`, { after: { expiresAt, predecessor: keyId } });
    return { ...result, previousKeyId: keyId };
  },
});

export const revokeKeyAction = defineAction({
  name: 'key.revoke',
  input: Type.Object({ keyId: KeyId }),
  run: async (db, { keyId }, note) => {
    const before = await revokeKey(db, keyId);
    if (!before) throw new NotFound('no such key');
    if (!before.revoked) note(`key:${keyId}`, { before, after: { revoked: true } });
    return { keyId, state: 'revoked' };
  },
});
