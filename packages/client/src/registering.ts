import { randomUUID } from 'node:crypto';
import type { RegistrationRequest } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { Settings } from './options.ts';
import { persist } from './persist.ts';
import { readAnswer, type Results } from './read-answer.ts';
import type { BulkResult, RegisterResult } from './results.ts';
import type { Call, Transport } from './transport.ts';

/** Until when a call is sent, unless the signal ends it. */
export interface Effort {
  deadline: number;
  signal?: AbortSignal | undefined;
}

/** What the caller says of a call. */
interface Own {
  idempotencyKey?: string | undefined;
  holdForSeconds?: number | undefined;
}

const completed = ({ idempotencyKey = randomUUID(), holdForSeconds }: Own) => ({
  idempotencyKey,
  holdForSeconds,
});

/** Returns a registration as JSON, as it is now: what the caller does with it later changes no call. */
export function serialize(request: RegistrationRequest): string {
  const body = JSON.stringify(request) as string | undefined;
  if (body === undefined) throw new FloodgateError('a registration must be an object');
  return body;
}

/** Returns what registers: each call is sent with one key and one body until it has a final answer. */
export function createRegistering(transport: Transport, settings: Settings) {
  const { answerWithinMs, attemptWithinMs, onRetry } = settings;

  async function ask<Name extends 'registerForEvent' | 'registerInBulk'>(
    operation: Name,
    call: Call & { idempotencyKey: string },
    effort: Effort & { isAgain?: boolean },
  ): Promise<Results[Name]> {
    const outcome = await persist(transport, call, { attemptWithinMs, onRetry, ...effort });
    if (outcome.kind !== 'unknown') return readAnswer(operation, outcome);
    let again: Promise<Results[Name]> | undefined;
    // Everybody who was in the call may ask, and it is sent once.
    const askAgain = () =>
      (again ??= ask(operation, call, { deadline: performance.now() + answerWithinMs, isAgain: true }));
    const { reason } = outcome;
    return { code: 'unknown', reason, idempotencyKey: call.idempotencyKey, askAgain } as Results[Name];
  }

  /** Registers one. */
  function one(body: string, effort: Effort, own: Own = {}): Promise<RegisterResult> {
    return ask(
      'registerForEvent',
      { method: 'POST', path: '/api/v1/events/register', body, ...completed(own) },
      effort,
    );
  }

  /** Registers many in one call. */
  function many(
    bodies: readonly string[],
    effort: Effort,
    mode: 'each' | 'all' = 'each',
    own: Own = {},
  ): Promise<BulkResult> {
    const body = `{"registrations":[${bodies.join(',')}],"mode":"${mode}"}`;
    const size = bodies.length;
    return ask(
      'registerInBulk',
      { method: 'POST', path: '/api/v1/events/register/bulk', body, size, ...completed(own) },
      effort,
    );
  }

  return { one, many };
}

export type Registering = ReturnType<typeof createRegistering>;
