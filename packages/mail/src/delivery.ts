import type { Static, TObject } from '@sinclair/typebox';
import { inEachShard } from '@floodgate/database';
import { countUnfinished, pruneDeliveries, SendLoop, type SendLoopOptions } from '@floodgate/deliveries';
import { EVENT_KINDS } from '@floodgate/events';
import {
  runConsumers,
  type DeliveryCapability,
  type DeliveryContext,
  type OpenDelivery,
} from '@floodgate/journal';
import type { Metrics } from '@floodgate/metrics';
import { createPassSigner } from '@floodgate/passes';
import { recordSpan, throttledWarn, type Logger } from '@floodgate/service';
import { WEBHOOK_DISABLED } from '@floodgate/webhooks/notices';
import { attendeeKind } from './kinds/attendee-mails.ts';
import { suppressRefused } from './kinds/refusals.ts';
import { webhookDisabledKind } from './kinds/webhook-disabled.ts';
import { parseSender } from './letter.ts';
import { createMailcatcher } from './mailcatcher.ts';
import type { MailMessage } from './message.ts';
import { MAX_CONCURRENT_EVENTS, PAGE_LEASE_SECONDS, queueMails } from './queue-mails.ts';
import { createSendingRate } from './sending-rate.ts';
import { mailSettings } from './settings.ts';
import { openSmtp, type Transport } from './smtp.ts';

const QUEUE_INTERVAL_MS = 400;
const PRUNE_INTERVAL_MS = 600_000;
/**
 * Running attempts get this long to end when the process stops. Then they are aborted, and their e-mails may
 * be sent twice.
 */
const END_WITHIN_MS = 5_000;

/** Sends e-mails: passes and new times to attendees, offers of waiting lists, and notices to partners. */
export const mailDelivery: DeliveryCapability<typeof mailSettings> = {
  kind: 'mail',
  settings: mailSettings,
  async open(context) {
    const { log, config } = context;
    const { SMTP_URL, SMTP_CONNECTIONS, MAILCATCHER_SIZE } = config;
    if (SMTP_URL) return startSending(context, openSmtp(SMTP_URL, SMTP_CONNECTIONS, log));
    if (MAILCATCHER_SIZE > 0) {
      const mailcatcher = createMailcatcher(MAILCATCHER_SIZE);
      return { ...startSending(context, mailcatcher), pages: [mailcatcher.page] };
    }
    log.info('no SMTP_URL: this process sends no e-mails');
    return { tasks: [], close: async () => {} };
  },
};

type MailContext = DeliveryContext<Static<TObject<typeof mailSettings>>>;

/**
 * Starts both halves of the way of an e-mail: from the journal to its queue, and from there to the transport.
 */
function startSending(context: MailContext, transport: Transport): OpenDelivery {
  const { db, metrics, config } = context;
  const loop = openLoop(context, transport);
  const queue = openQueue(context, transport.isOutside, (shardId) => loop.wake(shardId));
  metrics.figures(() => countUnfinished(db), {
    deliveries: {
      help: 'E-mails that are not finished, by kind and state',
      labels: ['kind', 'state'],
      samples: (counts) => counts.map(({ count, ...labels }) => [labels, count]),
    },
  });
  const prune = (shardId: number) => pruneDeliveries(db, shardId, config.DELIVERY_RETENTION_DAYS);
  return {
    tasks: [
      { name: 'e-mails to queue', intervalMs: QUEUE_INTERVAL_MS, run: queue.poll },
      loop.task,
      { name: 'old deliveries', intervalMs: PRUNE_INTERVAL_MS, run: () => inEachShard(db, prune) },
    ],
    async close() {
      const cutOff = setTimeout(() => {
        loop.abandon();
        transport.close();
      }, END_WITHIN_MS);
      await Promise.all([queue.close(), loop.close()]);
      clearTimeout(cutOff);
      transport.close();
    },
  };
}

/** Queues e-mails for the news in the journal of each event with enabled e-mails. */
function openQueue({ db, log }: MailContext, isOutside: boolean, onQueued: (shardId: number) => void) {
  const warn = throttledWarn('cannot queue the e-mails of an event; retrying');
  return runConsumers({
    db,
    kind: 'mail',
    concurrency: MAX_CONCURRENT_EVENTS,
    leaseSeconds: PAGE_LEASE_SECONDS,
    onError: (err, { eventId }) => warn(log, { err, eventId }),
    run: (consumer) => queueMails({ db, log, isOutside, onQueued }, consumer),
  });
}

function openLoop(context: MailContext, { isOutside, send }: Transport) {
  const { db, log, metrics, config } = context;
  // The format of the setting was checked.
  const options = { db, isOutside, sender: parseSender(config.MAIL_FROM)!, passes: createPassSigner({ db }) };
  const warnings = {
    lease: throttledWarn('cannot lease deliveries; retrying'),
    load: throttledWarn('cannot load a delivery; retrying'),
    render: throttledWarn('cannot compose an e-mail; retrying'),
    record: throttledWarn('cannot record outcomes of e-mails; retrying'),
  };
  return new SendLoop<MailMessage>({
    db,
    kinds: [...EVENT_KINDS.map((kind) => attendeeKind(kind, options)), webhookDisabledKind(options)],
    send: traced(send),
    rate: createSendingRate(db, log, config.MAIL_PER_SECOND),
    beforeRecord: (ended) => suppressRefused(db, ended),
    onOutcome: reportOutcomes(metrics, log),
    // An error's message can contain attendee data.
    onError: (err, what, delivery) =>
      warnings[what](log, what === 'render' ? { failure: err.name, eventId: delivery?.eventId } : { err }),
  });
}

/** Records the span of each attempt, in the trace of its registration. */
const traced =
  (send: Transport['send']): Transport['send'] =>
  async (mail) => {
    const startedAt = performance.now();
    const attempt = await send(mail);
    recordSpan({ name: 'e-mail', batchId: mail.batchId, startedAt, attributes: { outcome: attempt.kind } });
    return attempt;
  };

/** Counts outcomes, and logs those that an operator should know. */
function reportOutcomes(metrics: Metrics, log: Logger): SendLoopOptions<MailMessage>['onOutcome'] {
  const help = 'Outcomes of attempts to send an e-mail';
  const outcomes = metrics.counter('mails', help, ['kind', 'outcome']);
  const twice = metrics.counter(
    'mails_possibly_twice',
    'E-mails that were sent and may have been sent before, because a process or connection was lost',
    ['kind'],
  );
  const warn = throttledWarn('the SMTP server accepts no e-mails; they stay queued');
  return ({ state, reason }, { kind, subject, possiblyTwice }) => {
    outcomes.inc({ kind, outcome: state });
    if (state === 'sent' && possiblyTwice) twice.inc({ kind });
    if (state === 'unavailable') warn(log, { reason });
    if (kind !== WEBHOOK_DISABLED) return;
    const webhook = { webhook: subject };
    if (state === 'sent') log.info(webhook, 'a partner was notified that its webhook was disabled');
    if (state === 'undeliverable')
      log.warn({ ...webhook, reason }, 'a partner could not be notified that its webhook was disabled');
  };
}
