import { setTimeout as delay } from 'node:timers/promises';
import { firstLine, StandaloneError } from './standalone-error.ts';

const TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 5_000;
const POLL_MS = 25;

/** Resolves when the URL answers 2xx. Throws the signal's reason, or StandaloneError after a minute. */
export async function waitUntilReady(url: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const answer = await ask(url, signal);
    signal.throwIfAborted();
    if (answer === 'ready') return;
    if (Date.now() > deadline) {
      throw new StandaloneError(`the API was not ready after ${TIMEOUT_MS / 1000} s: ${url} ${answer}`);
    }
    await delay(POLL_MS);
  }
}

async function ask(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.ok ? 'ready' : `answers ${response.status}`;
  } catch (error) {
    return `does not answer: ${firstLine(error)}`;
  }
}
