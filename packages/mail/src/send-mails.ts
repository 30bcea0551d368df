import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { MailEvent } from './mail-event.ts';
import { prepareAhead } from './prepare-ahead.ts';
import type { PreparedMail, PrepareOptions, Task } from './prepare-mails.ts';
import { createSending, type SendingOptions } from './send-one.ts';
import { createGate } from './send/gate.ts';
import type { SendingRate } from './send/sending-rate.ts';

/**
 * E-mails of a process that are under way, or sent, while that is not yet committed: if it died now, so many might be sent a second
 * time at most.
 */
export const MOST_UNDER_WAY = 100;

export interface DelivererOptions extends SendingOptions, Omit<PrepareOptions, 'isOutside'> {
  rate: SendingRate;
}

export type Deliverer = ReturnType<typeof createDeliverer>;

/** Returns what sends e-mails about registrations. All that a process sends goes through one. */
export function createDeliverer(options: DelivererOptions) {
  const gate = createGate();
  const room = createRoom(MOST_UNDER_WAY);
  const runs = new Set<Promise<unknown>>();
  const sendOne = createSending(options, gate);

  async function begin(run: Run): Promise<void> {
    const { event, tasks, signal } = run;
    const { rate, transport } = options;
    const preparing = { ...options, isOutside: transport.isOutside };
    for await (const mails of prepareAhead(preparing, event, tasks, rate.atOnce)) {
      if (!(await rate.take(mails.length, signal))) return;
      for (const mail of mails) {
        await room.enter();
        // While it waited, the server may have closed, or the process begun to stop.
        if (signal.aborted || !gate.isOpen()) return room.leave();
        follow(run, mail, sendOne(event, mail));
        // What the server says to those before is heard before the next is handed over.
        await yieldToOthers();
      }
    }
  }

  function follow(
    { underWay, settled, failures }: Run,
    { task }: PreparedMail,
    sending: Promise<boolean>,
  ): void {
    const ended = sending
      .then((isSettled) => void (isSettled && settled.add(task.serial)))
      .catch((error: Error) => void failures.push(error))
      .finally(() => (room.leave(), underWay.delete(ended)));
    underWay.add(ended);
  }

  async function deliver(event: MailEvent, tasks: readonly Task[], signal: AbortSignal) {
    const run: Run = { event, tasks, signal, settled: new Set(), underWay: new Set(), failures: [] };
    try {
      await begin(run);
    } finally {
      await Promise.all(run.underWay);
    }
    if (run.failures[0]) throw run.failures[0];
    return run.settled;
  }

  return {
    gate,
    /**
     * Sends e-mails about registrations of an event, until it is aborted or the server takes no more. Resolves to the serials of
     * those for which nothing more is to be done here, once all that was begun has ended. Rejects where it is not known of all.
     */
    deliver(event: MailEvent, tasks: readonly Task[], signal: AbortSignal): Promise<ReadonlySet<number>> {
      const running = deliver(event, tasks, signal).finally(() => runs.delete(running));
      runs.add(running);
      return running;
    },
    /** Resolves when nothing is under way. */
    ended: () => Promise.allSettled(runs),
  };
}

/** A call of `deliver`. */
interface Run {
  event: MailEvent;
  tasks: readonly Task[];
  signal: AbortSignal;
  settled: Set<number>;
  underWay: Set<Promise<void>>;
  /** Of e-mails of which nothing could be written down, as the process stops. */
  failures: Error[];
}

/** Lets so many in at once; the others wait in line. */
function createRoom(size: number) {
  const line: (() => void)[] = [];
  let inside = 0;
  return {
    async enter(): Promise<void> {
      if (inside < size) return void (inside += 1);
      // Who leaves hands over the place.
      await new Promise<void>((resolve) => line.push(resolve));
    },
    leave(): void {
      const next = line.shift();
      if (next) next();
      else inside -= 1;
    },
  };
}
