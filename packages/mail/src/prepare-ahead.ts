import type { MailEvent } from './mail-event.ts';
import { prepareMails, type PreparedMail, type PrepareOptions, type Task } from './prepare-mails.ts';
import type { Gate } from './send/gate.ts';
import type { SendingRate } from './send/sending-rate.ts';

/** Prepared together: who has cancelled by then gets none. */
const CHUNK = 25;
/** So many chunks are prepared while the one before them is sent: one is read while the other is composed. */
const AHEAD = 2;

export interface PrepareAheadOptions extends PrepareOptions {
  rate: SendingRate;
  gate: Gate;
}

/** Yields e-mails about an event in the order of their tasks, chunk by chunk, as they may be sent. It ends with the tasks, or when the gate closes. */
export async function* prepareAhead(
  options: PrepareAheadOptions,
  event: MailEvent,
  tasks: readonly Task[],
  signal: AbortSignal,
): AsyncGenerator<PreparedMail[], void> {
  const { rate, gate } = options;
  let at = 0;
  let taken: Promise<readonly Task[]> = Promise.resolve([]);

  async function take(): Promise<readonly Task[]> {
    if (at >= tasks.length || !gate.isOpen()) return [];
    const permitted = await rate(Math.min(CHUNK, tasks.length - at), signal);
    return tasks.slice(at, (at += permitted));
  }

  function prepareNext(): Promise<PreparedMail[]> {
    // A chunk begins where the one before it has ended.
    taken = taken.then(take);
    const mails = taken.then((chunk) => (chunk.length === 0 ? [] : prepareMails(options, event, chunk)));
    // Nobody waits for it where an earlier one was the last.
    mails.catch(() => {});
    return mails;
  }

  const ahead = Array.from({ length: AHEAD }, prepareNext);
  for (let mails = await ahead.shift()!; mails.length > 0; mails = await ahead.shift()!) {
    ahead.push(prepareNext());
    yield mails;
  }
}
