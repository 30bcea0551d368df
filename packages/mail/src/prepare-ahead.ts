import type { MailEvent } from './mail-event.ts';
import { prepareMails, type PreparedMail, type PrepareOptions, type Task } from './prepare-mails.ts';

/** Prepared together: who has cancelled by then gets none. */
const CHUNK = 25;
/** So many chunks are prepared while the one before them is sent: one is read while the other is composed. */
const AHEAD = 2;

/** Yields e-mails about an event in the order of their tasks, in chunks of `most` at most. */
export async function* prepareAhead(
  options: PrepareOptions,
  event: MailEvent,
  tasks: readonly Task[],
  most: number,
): AsyncGenerator<PreparedMail[], void> {
  const size = Math.min(CHUNK, most);
  let at = 0;
  const ahead: Promise<PreparedMail[]>[] = [];

  function prepareNext(): void {
    if (at >= tasks.length) return;
    const mails = prepareMails(options, event, tasks.slice(at, (at += size)));
    // Nobody waits for it where those before it were the last.
    mails.catch(() => {});
    ahead.push(mails);
  }

  for (let count = 0; count < AHEAD; count += 1) prepareNext();
  for (let mails = ahead.shift(); mails; mails = ahead.shift()) {
    const prepared = await mails;
    prepareNext();
    yield prepared;
  }
}
