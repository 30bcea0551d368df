import { Cursor, Id, Limit, text } from '@floodgate/audit';
import { findEvent } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import { CURSOR_PROBLEMS } from '@floodgate/registrations/list';
import { InvalidInput } from '@floodgate/service/failure';
import { rotatePassKeyAction, withdrawPassKeyAction } from './actions.ts';
import { checkPass } from './check-pass.ts';
import { readEventDocument, readRevocations } from './documents.ts';
import { listPassKeys } from './keys.ts';

const { performs, reads } = operationsOn('passes');

/** A QR code holds at most this many characters. */
const Token = text(1, 4_296);

export const passOperations = [
  reads('GET /passes/keys', 'List the keys that sign passes', 'passKeyList', {}, listPassKeys),
  // Not a GET: proxies log addresses, and a pass admits the person who shows it.
  reads(
    'POST /passes/verify',
    'Check a pass and its registration',
    'passVerify',
    { token: Token },
    checkPass,
  ),
  reads(
    'GET /events/{eventId}/passes/event',
    'Show what the signed event for doors says, without the signature',
    'passEvent',
    { eventId: Id },
    (db, { eventId }) => readEventDocument(db, eventId),
  ),
  reads(
    'GET /events/{eventId}/passes/revoked',
    'List the revoked passes of all partners under an event, without the signature',
    'passRevoked',
    { eventId: Id, after: Cursor, limit: Limit },
    async (db, { eventId, after = 0, limit = 1_000 }) => {
      const { shardId } = await findEvent(db, eventId);
      const page = await readRevocations(db, { shardId, eventId, partnerId: null }, after, limit);
      if (typeof page === 'string') throw new InvalidInput({ after: CURSOR_PROBLEMS[page] });
      return page;
    },
  ),
  performs('POST /passes/keys', 'Create a new signing key', rotatePassKeyAction),
  performs('DELETE /passes/keys/{keyId}', 'Invalidate all passes of a retired key', withdrawPassKeyAction),
];
