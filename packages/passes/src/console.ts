import { Type } from '@sinclair/typebox';
import { Cursor, Id, Limit, text } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { findEvent, type Event } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import { CURSOR_PROBLEMS } from '@floodgate/registrations/list';
import { Failure, InvalidInput, sqlStateOf } from '@floodgate/service/failure';
import { rotatePassKeyAction, withdrawPassKeyAction } from './actions.ts';
import { readEventDocument, readRevocations, validityOf } from './documents.ts';
import { createPassSigner, listPassKeys, readPublicKeys } from './pass-keys.ts';
import { parsePass, verifyPass } from './token.ts';

const { actionOperation, queryOperation } = operationsOn('passes');

/** A QR code holds at most this many characters. */
const PassToken = Type.Object({ token: text(1, 4_296) });

export const passOperations = {
  passKeyList: queryOperation(
    'GET /passes/keys',
    'List the keys that sign passes',
    'passKeyList',
    Type.Object({}),
    listPassKeys,
  ),
  // Not a GET: proxies log addresses, and a pass admits the person who shows it.
  passVerify: queryOperation(
    'POST /passes/verify',
    'Check a pass and its registration',
    'passVerify',
    PassToken,
    checkPass,
  ),
  passEvent: queryOperation(
    'GET /events/{eventId}/passes/event',
    'Show what the signed event for doors says, without the signature',
    'passEvent',
    Type.Object({ eventId: Id }),
    (db, { eventId }) => readEventDocument(db, eventId),
  ),
  passRevoked: queryOperation(
    'GET /events/{eventId}/passes/revoked',
    'List the revoked passes of all partners under an event, without the signature',
    'passRevoked',
    Type.Object({ eventId: Id, after: Cursor, limit: Limit }),
    async (db, { eventId, after = 0, limit = 1_000 }) => {
      const { shardId } = await findEvent(db, eventId);
      const page = await readRevocations(db, { shardId, eventId, partnerId: null }, after, limit);
      if (typeof page === 'string') throw new InvalidInput({ after: CURSOR_PROBLEMS[page] });
      return page;
    },
  ),
  passRotate: actionOperation('POST /passes/keys', 'Create a new signing key', rotatePassKeyAction),
  passWithdraw: actionOperation(
    'DELETE /passes/keys/{keyId}',
    'Invalidate all passes of a retired key',
    withdrawPassKeyAction,
  ),
};

/** Returns the event that the text of a pass names. Its signature is not checked. */
export const eventOfToken = (token: string) => parsePass(token)?.eventId;

/** After an upgrade from a release that did not store public keys, or a restore. */
const NOT_STORED =
  'the API stores the public key of this pass when it next signs or shows one; try again then';

const NO_PRIVILEGE = '42501';

/** The result of a check. */
export type PassCheck = Awaited<ReturnType<typeof checkPass>>;

/**
 * Checks a token against the keys, the current times of its event and the state of its registration. Resolves
 * to the content of the token, even if its signature is wrong (null: the text is not a token); to the mode of
 * the event and the current validity of its passes (null: none of the keys signed the token); and to the
 * problem. If the problem is null, the pass is valid now. Throws Failure if the event does not exist, or if
 * the public key is not stored yet.
 */
export async function checkPass(db: Database, { token }: { token: string }) {
  const content = parsePass(token);
  const stored = await readPublicKeys(db);
  const publicKeys = stored.get(content?.keyId ?? 0) === null ? await storeKeys(db) : stored;
  const pass = verifyPass(token, publicKeys);
  const unknown = { mode: null, validFrom: null, validUntil: null };
  if (typeof pass === 'string') return { valid: false, pass: content, ...unknown, problem: pass };
  const { eventId, serial } = pass;
  const event = await findEvent(db, eventId);
  const registration = await db
    .selectFrom('registrations')
    .select('cancelled_at as cancelledAt')
    .where('shard_id', '=', event.shardId)
    .where('serial', '=', serial)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  const problem = problemOf(event, registration);
  return { valid: problem === null, pass, mode: event.mode, ...validityOf(event), problem };
}

/** Stores and returns the public keys. Throws Failure if the role may not read private keys. */
async function storeKeys(db: Database) {
  try {
    return (await createPassSigner({ db }).keys()).publicKeys;
  } catch (error) {
    throw sqlStateOf(error) === NO_PRIVILEGE ? new Failure(NOT_STORED) : error;
  }
}

function problemOf(event: Event, registration: { cancelledAt: Date | null } | undefined) {
  const { validFrom, validUntil } = validityOf(event);
  if (validFrom && Date.now() < Date.parse(validFrom)) return 'not-yet-valid';
  if (validUntil && Date.now() > Date.parse(validUntil)) return 'expired';
  if (!registration) return 'unknown';
  return registration.cancelledAt && 'revoked';
}
