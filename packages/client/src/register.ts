import { randomUUID } from 'node:crypto';
import type { RegistrationRequest } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { Settings } from './options.ts';
import { readAnswer } from './read-answer.ts';
import type { BulkResult, RegisterResult, ResultOf } from './results.ts';
import { retry } from './retry.ts';
import type { Call, Transport } from './transport.ts';

/** When a call ends. */
export interface Limits {
  /** By performance.now(). */
  deadline: number;
  signal?: AbortSignal | undefined;
}

/** Headers that the caller chooses. */
interface Own {
  idempotencyKey?: string | undefined;
  holdForSeconds?: number | undefined;
}

const completed = ({ idempotencyKey = randomUUID(), holdForSeconds }: Own) => ({
  idempotencyKey,
  holdForSeconds,
});

/** Returns a registration as JSON. Later changes of the object do not change the call. */
export function serialize(request: RegistrationRequest): string {
  const body = JSON.stringify(request) as string | undefined;
  if (body === undefined) throw new FloodgateError('a registration must be an object');
  return body;
}

/** Returns the calls that register. Each is sent with one key and one body until it has a final answer. */
export function createRegister(transport: Transport, settings: Settings) {
  const { answerWithinMs, attemptWithinMs, onRetry } = settings;

  async function ask<Name extends 'registerForEvent' | 'registerInBulk'>(
    operation: Name,
    call: Call & { idempotencyKey: string },
    limits: Limits & { isAgain?: boolean },
  ): Promise<ResultOf<Name>> {
    const outcome = await retry(transport, call, { attemptWithinMs, onRetry, ...limits });
    if (outcome.kind !== 'unknown') return readAnswer(operation, outcome);
    let again: Promise<ResultOf<Name>> | undefined;
    // Every registration of the call may ask again. The call is sent once.
    const askAgain = () =>
      (again ??= ask(operation, call, { deadline: performance.now() + answerWithinMs, isAgain: true }));
    const { reason } = outcome;
    return { code: 'unknown', reason, idempotencyKey: call.idempotencyKey, askAgain } as ResultOf<Name>;
  }

  /** Registers one. */
  function one(body: string, limits: Limits, own: Own = {}): Promise<RegisterResult> {
    return ask(
      'registerForEvent',
      { method: 'POST', path: '/api/v1/events/register', body, ...completed(own) },
      limits,
    );
  }

  /** Registers many in one call. */
  function many(
    bodies: readonly string[],
    limits: Limits,
    mode: 'each' | 'all' = 'each',
    own: Own = {},
  ): Promise<BulkResult> {
    const body = `{"registrations":[${bodies.join(',')}],"mode":"${mode}"}`;
    const size = bodies.length;
    return ask(
      'registerInBulk',
      { method: 'POST', path: '/api/v1/events/register/bulk', body, size, ...completed(own) },
      limits,
    );
  }

  return { one, many };
}

export type Register = ReturnType<typeof createRegister>;
