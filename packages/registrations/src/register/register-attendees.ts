import type { RegistrationRequest } from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';
import { createSemaphore, throttledWarn, type Logger } from '@floodgate/service';
import type { PaceOptions } from '../admission/pace.ts';
import { createAdmission } from '../admission/admission.ts';
import { commitBatch, type CommitDependencies } from './commit-batch.ts';
import { createLockedTickets } from './locked-tickets.ts';
import { OVERLOADED, UNKNOWN, type Outcome } from './outcome.ts';
import { seatsOf, toBulk, toReservation, type CallOptions, type Submission } from './submission.ts';

interface Options
  extends
    PaceOptions,
    Pick<CommitDependencies, 'db' | 'isCluster' | 'onCommitted' | 'retentionHours' | 'holdSharePercent'> {
  log: Logger;
}

export type Registrations = ReturnType<typeof openRegistrations>;

/**
 * Share of the answer time that a group waits for a row lock. Longer than the groups of other APIs hold one. lock_timeout applies
 * per wait, and there can be two (queue, then row): both must fit into the time of a batch.
 */
const LOCK_SHARE = 1 / 4;
/** Groups of all shards in flight at once: they keep Postgres busy, and with more each would take longer. */
const GROUPS_AT_ONCE = 8;
/** A group that takes longer is not counted: it waits for a lock or for a slow shard. */
const PATIENCE_MS = 250;

/** Opens what registers attendees: it groups the calls, commits the groups and resolves each call to its outcome. */
export function openRegistrations({ log, ...options }: Options) {
  const warn = throttledWarn('a batch did not commit');
  const deps: CommitDependencies = {
    ...options,
    locked: createLockedTickets(log),
    lockWithinMs: Math.round(options.answerWithinMs * LOCK_SHARE),
    onFailure: (error, facts) => warn(log, { err: error, ...facts }),
    resolveWithinMs: options.answerWithinMs,
  };
  const withPermit = createSemaphore(GROUPS_AT_ONCE, PATIENCE_MS);
  const admission = createAdmission<Submission, Outcome>({
    ...options,
    commit: (submissions) => withPermit(() => commitBatch(deps, submissions)),
    unitsOf: seatsOf,
    overloaded: OVERLOADED,
    unknown: UNKNOWN,
  });
  const keysInProgress = new Set<string>();

  /** Two calls with one idempotency key must not be in one batch. */
  function submit(principal: PartnerPrincipal, submission: Submission, key?: string): Promise<Outcome> {
    if (key === undefined) return admission.submit(principal, submission);
    const scopedKey = `${principal.partnerId}/${principal.eventId}/${key}`;
    if (keysInProgress.has(scopedKey)) return Promise.resolve<Outcome>({ kind: 'in-progress' });
    keysInProgress.add(scopedKey);
    return admission.submit(principal, submission).finally(() => keysInProgress.delete(scopedKey));
  }

  return {
    ...admission,
    /** Resolves when the seat is committed or refused; never rejects. */
    register: (principal: PartnerPrincipal, request: RegistrationRequest, call: CallOptions = {}) =>
      submit(principal, toReservation(principal, request, call), call.key),
    /** Registers the attendees of one call, at least one. Resolves to an outcome for each, or to one for the call; never rejects. */
    registerBulk: (
      principal: PartnerPrincipal,
      requests: readonly RegistrationRequest[],
      isAll: boolean,
      call: CallOptions = {},
    ) => submit(principal, toBulk(principal, requests, isAll, call), call.key),
  };
}
