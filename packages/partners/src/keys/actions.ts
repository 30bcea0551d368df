import { Type } from '@sinclair/typebox';
import { defineAction, Id, instantOrNull, whole } from '@floodgate/audit';
import { Failure } from '@floodgate/service/failure';
import { issueKey } from './issue-key.ts';
import { lockKey } from './lock-key.ts';
import { revokeKey } from './revoke-key.ts';
import { rotateKey } from './rotate-key.ts';

const HOUR_MS = 3_600_000;
const TEN_YEARS_MS = 3_650 * 24 * HOUR_MS;

const KeyId = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description:
    '16 of 0–9 and a–f, which are also the part of a secret key between "fg_" and the next "_"; never give the whole key',
});

const STILL_TO_COME = 'a time that is still to come, or never';
const Expiry = Type.Optional(instantOrNull(STILL_TO_COME));

/** A key that is born expired can only be a mistake. */
function checkExpiry({ expiresAt }: { expiresAt?: Date | null }): Record<string, string> {
  return expiresAt && expiresAt.getTime() <= Date.now() ? { expiresAt: STILL_TO_COME } : {};
}

/** Issues a key to a partner; it never expires where nothing is said. The result holds its secret, which nothing else does. */
export const issueKeyAction = defineAction({
  name: 'key.issue',
  input: Type.Object({ partnerId: Id, expiresAt: Expiry }),
  check: checkExpiry,
  refusals: { secret_keys_partner_id_fkey: 'no such partner' },
  run: async (transaction, { partnerId, expiresAt = null }) => {
    const { keyId, secretKey } = await issueKey(transaction, partnerId, expiresAt);
    const change = { subject: `key:${keyId}`, after: { partnerId, expiresAt } };
    return { result: { keyId, secretKey, partnerId, expiresAt }, changes: [change] };
  },
});

/** Issues a successor to a key that is open, which itself goes on working for the overlap. */
export const rotateKeyAction = defineAction({
  name: 'key.rotate',
  input: Type.Object({ keyId: KeyId, overlapMs: whole(0, TEN_YEARS_MS), expiresAt: Expiry }),
  check: checkExpiry,
  run: async (transaction, { keyId, overlapMs, expiresAt }) => {
    const before = await lockKey(transaction, keyId);
    const rotated = await rotateKey(transaction, keyId, overlapMs / HOUR_MS, expiresAt);
    if (!before || !rotated) throw new Failure('no such key, or it is revoked or expired');
    const { keyId: successor, expiresAt: end, previousKeyEndsAt } = rotated;
    const old = {
      before: { expiresAt: before.expiresAt },
      after: { expiresAt: previousKeyEndsAt, successor },
    };
    const heir = { after: { expiresAt: end, predecessor: keyId } };
    return {
      result: { ...rotated, previousKeyId: keyId },
      changes: [
        { subject: `key:${keyId}`, ...old },
        { subject: `key:${successor}`, ...heir },
      ],
    };
  },
});

/** Ends a key for good. */
export const revokeKeyAction = defineAction({
  name: 'key.revoke',
  input: Type.Object({ keyId: KeyId }),
  run: async (transaction, { keyId }) => {
    const before = await lockKey(transaction, keyId);
    if (!before) throw new Failure('no such key');
    await revokeKey(transaction, keyId);
    const change = { subject: `key:${keyId}`, before: { revoked: false }, after: { revoked: true } };
    return { result: { keyId, state: 'revoked' }, changes: before.revokedAt ? [] : [change] };
  },
});
