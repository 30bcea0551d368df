import { Counter, type Registry } from '@prometheus-io/client';
import { inEachShard } from '@floodgate/database';
import { defineDelivery, runConsumers, type Consumer } from '@floodgate/journal';
import { createPassSigner } from '@floodgate/passes';
import { throttledWarn } from '@floodgate/service';
import { parseSender } from './compose.ts';
import { createDeliverer, type DelivererOptions } from './deliver.ts';
import { claimDue } from './deliveries.ts';
import { createOutcomeWriter } from './send/outcome-writer.ts';
import { createSendingRate } from './send/sending-rate.ts';
import { openSmtp } from './send/smtp.ts';
import { mailSettings } from './settings.ts';
import { sendAgain, takeTurn } from './take-turn.ts';
import { createOutbox } from './outbox/outbox.ts';
import { outboxPage } from './outbox/pages.ts';

const LOOK_EVERY_MS = 200;
const RETRIES_EVERY_MS = 1_000;
/** Events whose e-mails a process sends at the same time: one that is slow to load leaves the connections to others. */
const SLOTS = 4;
const MOST_RETRIES = 50;
/** What is under way may end for so long when the process stops. Then it is cut off, and doubtful. */
const END_WITHIN_MS = 5_000;

/** Sends each attendee of an event an e-mail with their pass, once they are confirmed. */
export const mailDelivery = defineDelivery({
  kind: 'mail',
  settings: mailSettings,
  async open({ db, log, metrics, config }) {
    const { SMTP_URL, SMTP_CONNECTIONS, MAIL_FROM, MAIL_PER_SECOND, MAIL_OUTBOX } = config;
    const outbox = !SMTP_URL && MAIL_OUTBOX > 0 ? createOutbox(MAIL_OUTBOX) : null;
    const transport = SMTP_URL ? openSmtp({ url: SMTP_URL, connections: SMTP_CONNECTIONS }) : outbox;
    if (!transport) {
      log.info('no SMTP_URL: this process sends no e-mails');
      return { rounds: [], close: async () => {} };
    }
    const outcomes = createOutcomeWriter(db, (err) =>
      log.warn({ err }, 'what became of e-mails cannot be written; it is tried again'),
    );
    const deliverer = createDeliverer({
      db,
      transport,
      passes: createPassSigner({ db }),
      rate: createSendingRate(db, log, MAIL_PER_SECOND),
      // The setting was checked.
      sender: parseSender(MAIL_FROM)!,
      outcomes,
      onOutcome: countOutcomes(metrics, log),
      onError: (err, eventId) => log.error({ err, eventId }, 'an e-mail failed; it is tried again'),
    });
    const turnOptions = { db, log, deliverer, isOutside: transport.isOutside };
    const stopping = new AbortController();
    const consumers = runConsumers({
      db,
      kind: 'mail',
      slots: SLOTS,
      onError: (err: Error, { eventId }: Consumer) =>
        log.warn({ err, eventId }, 'e-mails of an event wait for their next turn'),
      turn: (consumer, signal) => takeTurn(turnOptions, consumer, signal),
    });
    let retrying: Promise<unknown> = Promise.resolve();
    const retry = async (): Promise<'more' | 'done'> => {
      let most = 0;
      await inEachShard(db, async (shardId) => {
        if (!deliverer.gate.isOpen() || stopping.signal.aborted) return;
        const due = await claimDue(db, shardId, MOST_RETRIES);
        most = Math.max(most, due.length);
        await sendAgain(turnOptions, due, stopping.signal);
      });
      return most === MOST_RETRIES ? 'more' : 'done';
    };
    return {
      rounds: [
        {
          name: 'mails',
          intervalMs: LOOK_EVERY_MS,
          run: async () => (deliverer.gate.isOpen() ? consumers.look() : 'done'),
        },
        {
          name: 'mail-retries',
          intervalMs: RETRIES_EVERY_MS,
          run: () => (retrying = retry()) as ReturnType<typeof retry>,
        },
      ],
      ...(outbox && { pages: [outboxPage(outbox)] }),
      async close() {
        stopping.abort();
        const cutOff = setTimeout(() => {
          outcomes.stop();
          transport.close();
        }, END_WITHIN_MS);
        await Promise.all([consumers.close(), retrying.catch(() => {})]);
        clearTimeout(cutOff);
        transport.close();
      },
    };
  },
});

/** Counts what became of e-mails, and tells the log when the server takes none. */
function countOutcomes(
  metrics: Registry,
  log: Parameters<ReturnType<typeof throttledWarn>>[0],
): DelivererOptions['onOutcome'] {
  const counter = new Counter({
    name: 'floodgate_delivery_mails_total',
    help: 'What became of attempts to send an e-mail',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const warn = throttledWarn('the SMTP server takes no e-mails; they wait');
  return (state, reason) => {
    counter.inc({ outcome: state });
    if (state === 'unavailable') warn(log, { reason });
  };
}
