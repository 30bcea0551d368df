import { Counter, type Registry } from '@prometheus-io/client';
import type { Static, TObject } from '@sinclair/typebox';
import {
  defineDelivery,
  runConsumers,
  type Consumer,
  type DeliveryContext,
  type OpenDelivery,
} from '@floodgate/journal';
import { createPassSigner } from '@floodgate/passes';
import { throttledWarn, type Logger, type Page } from '@floodgate/service';
import { parseSender } from './compose/compose-mail.ts';
import { openComposing } from './compose/composing.ts';
import { createDeliverer, type DelivererOptions } from './send-mails.ts';
import { createOutcomeWriter } from './send/outcome-writer.ts';
import { createSendingRate } from './send/sending-rate.ts';
import { openSmtp } from './send/smtp.ts';
import type { Transport } from './send/transport.ts';
import { mailSettings } from './settings.ts';
import { createNotices } from './notices/send-notices.ts';
import { longRound } from './long-round.ts';
import { sendAgain } from './send-again.ts';
import { takeTurn } from './take-turn.ts';
import { createOutbox } from './outbox/outbox.ts';
import { outboxPage } from './outbox/pages.ts';

const LOOK_EVERY_MS = 200;
const RETRIES_EVERY_MS = 1_000;
const NOTICES_EVERY_MS = 2_000;
/** Events whose e-mails a process sends at the same time: one that is slow to load leaves the connections to others. */
const SLOTS = 4;
/** What is under way may end for so long when the process stops. Then it is cut off, and doubtful. */
const END_WITHIN_MS = 5_000;

/** Sends each attendee of an event an e-mail with their pass, once they are confirmed. */
export const mailDelivery = defineDelivery({
  kind: 'mail',
  settings: mailSettings,
  async open({ db, log, metrics, config }) {
    const { SMTP_URL, SMTP_CONNECTIONS, MAIL_OUTBOX } = config;
    const outbox = !SMTP_URL && MAIL_OUTBOX > 0 ? createOutbox(MAIL_OUTBOX) : null;
    const transport = SMTP_URL ? openSmtp({ url: SMTP_URL, connections: SMTP_CONNECTIONS }) : outbox;
    if (!transport) {
      log.info('no SMTP_URL: this process sends no e-mails');
      return { rounds: [], close: async () => {} };
    }
    void checkServer(log, SMTP_URL, transport);
    return startSending({ db, log, metrics, config }, transport, outbox ? [outboxPage(outbox)] : []);
  },
});

/** Logs a warning if the SMTP server cannot be used. Nobody waits for it: e-mails wait until the server can be used. */
async function checkServer(log: Logger, url: string | undefined, transport: Transport): Promise<void> {
  const reason = await transport.check?.();
  if (!url || !reason) return;
  const { hostname, port, protocol } = new URL(url);
  const facts = { host: hostname, port: Number(port || (protocol === 'smtps:' ? 465 : 587)), reason };
  log.warn(facts, 'the SMTP server cannot be used; e-mails wait until it can');
}

type MailContext = DeliveryContext<Static<TObject<typeof mailSettings>>>;

/** Sends what there is to send, until it is closed. */
function startSending(context: MailContext, transport: Transport, pages: readonly Page[]): OpenDelivery {
  const { db, log } = context;
  const warnOfOutcomes = throttledWarn('what became of e-mails cannot be written; it is tried again');
  const outcomes = createOutcomeWriter(db, (err) => warnOfOutcomes(log, { err }));
  // The setting was checked.
  const sender = parseSender(context.config.MAIL_FROM)!;
  const warnOfMail = throttledWarn('an e-mail failed; it is tried again');
  const warnOfTurns = throttledWarn('e-mails of an event wait for their next turn');
  const composing = openComposing({
    passes: createPassSigner({ db }),
    sender,
    onError: (err, eventId) => warnOfMail(log, { err, eventId }),
  });
  const sending = delivererOptions(context, { transport, composing, outcomes });
  const deliverer = createDeliverer(sending);
  const options = { db, log, deliverer, isOutside: transport.isOutside };
  const stopping = new AbortController();
  const notices = createNotices({ ...sending, sender, log, gate: deliverer.gate }, stopping.signal);
  const consumers = runConsumers({
    db,
    kind: 'mail',
    slots: SLOTS,
    onError: (err: Error, { eventId }: Consumer) => warnOfTurns(log, { err, eventId }),
    turn: (consumer, signal) => takeTurn(options, consumer, signal),
  });
  const retries = longRound(() => sendAgain(options, stopping.signal));
  const look = async () => (deliverer.gate.isOpen() ? consumers.look() : 'done');
  return {
    pages,
    // The process ends the rounds, and waits for those that are under way.
    rounds: [
      { name: 'mails', intervalMs: LOOK_EVERY_MS, run: look },
      { name: 'mail-retries', intervalMs: RETRIES_EVERY_MS, run: retries.run },
      { name: 'notices', intervalMs: NOTICES_EVERY_MS, run: notices.run },
    ],
    async close() {
      stopping.abort();
      const cutOff = setTimeout(() => {
        outcomes.stop();
        transport.close();
      }, END_WITHIN_MS);
      await Promise.all([consumers.close(), deliverer.ended(), retries.ended(), notices.ended()]);
      clearTimeout(cutOff);
      transport.close();
      await composing.close();
    },
  };
}

function delivererOptions(
  { db, log, metrics, config }: MailContext,
  parts: Pick<DelivererOptions, 'transport' | 'composing' | 'outcomes'>,
): DelivererOptions {
  return {
    ...parts,
    db,
    rate: createSendingRate(db, log, config.MAIL_PER_SECOND),
    onOutcome: countOutcomes(metrics, log),
  };
}

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
