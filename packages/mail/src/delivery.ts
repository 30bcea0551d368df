import { setTimeout as delay } from 'node:timers/promises';
import type { Static, TObject } from '@sinclair/typebox';
import { inEachShard, inTransaction } from '@floodgate/database';
import { quotaLeases } from '@floodgate/database/limits/quota-lease';
import {
  countUnfinished,
  hasQueued,
  pruneDeliveries,
  queueDeliveries,
  SendLoop,
  type SendLoopOptions,
} from '@floodgate/deliveries';
import { CONFIRMATION, EVENT_KINDS, findEvent, WAITING_OFFER } from '@floodgate/events';
import {
  advance,
  leaseConsumers,
  readJournal,
  release,
  releaseCaughtUp,
  type Consumer,
  type DeliveryCapability,
  type DeliveryContext,
} from '@floodgate/journal';
import type { Metrics } from '@floodgate/metrics';
import { createPassSigner } from '@floodgate/passes';
import { recordSpan, throttledWarn, type Logger } from '@floodgate/service';
import { WEBHOOK_DISABLED } from '@floodgate/webhooks/notices';
import { attendeeKind, suppressRefused } from './kinds/attendee-mails.ts';
import { webhookDisabledKind } from './kinds/webhook-disabled.ts';
import { parseSender } from './letter.ts';
import { createMailcatcher } from './mailcatcher.ts';
import { openSmtp, type MailMessage, type Transport } from './message.ts';
import { mailSettings } from './settings.ts';

const PRUNE_INTERVAL_MS = 600_000;
/** Running attempts get this long to end when the process stops. Then they are aborted, and their e-mails may be sent twice. */
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

function startSending(context: MailContext, transport: Transport) {
  const { db, metrics, config } = context;
  const loop = startLoop(context, transport);
  metrics.figures(() => countUnfinished(db), {
    deliveries: {
      help: 'E-mails that are not finished, by kind and state',
      labels: ['kind', 'state'],
      samples: (found) => found.map(({ count, ...labels }) => [labels, count]),
    },
  });
  const prune = (shardId: number) => pruneDeliveries(db, shardId, config.DELIVERY_RETENTION_DAYS);
  return {
    tasks: [
      loop.task,
      { name: 'old deliveries', intervalMs: PRUNE_INTERVAL_MS, run: () => inEachShard(db, prune) },
    ],
    async close() {
      const cutOff = setTimeout(() => {
        loop.abandon();
        transport.close();
      }, END_WITHIN_MS);
      await loop.close();
      clearTimeout(cutOff);
      transport.close();
    },
  };
}

function startLoop(context: MailContext, { isOutside, send }: Transport) {
  const { db, log, metrics, config } = context;
  // The format of the setting was checked.
  const options = { db, isOutside, sender: parseSender(config.MAIL_FROM)!, passes: createPassSigner({ db }) };
  const warnings = {
    lease: throttledWarn('cannot queue or lease deliveries; retrying'),
    load: throttledWarn('cannot load a delivery; retrying'),
    render: throttledWarn('cannot compose an e-mail; retrying'),
    record: throttledWarn('cannot record outcomes of e-mails; retrying'),
  };
  return new SendLoop<MailMessage>({
    db,
    kinds: [...EVENT_KINDS.map((kind) => attendeeKind(kind, options)), webhookDisabledKind(options)],
    queue: createQueue(context, isOutside),
    send: traced(send),
    rate: createSendingRate(context),
    beforeRecord: (ended) => suppressRefused(db, ended),
    onOutcome: reportOutcomes(metrics, log),
    // An error's message can contain attendee data.
    onError: (err, what, delivery) =>
      warnings[what](log, what === 'render' ? { failure: err.name, eventId: delivery?.eventId } : { err }),
  });
}

/** The kind of e-mail for each kind of journal entry. */
const KINDS = { confirmed: CONFIRMATION, 'waiting.offered': WAITING_OFFER } as const;
type EntryKind = keyof typeof KINDS;
/** Events whose journal is read before the next lease of deliveries. */
const EVENTS_AT_ONCE = 4;
/** Maximum number of journal entries that are queued at once. */
const PAGE = 1_000;
/**
 * If this many e-mails of a kind and event are due, no more are queued. So the e-mails of a launch do not delay those of other events, and
 * e-mails can be disabled before most of them are queued.
 */
const MOST_QUEUED = 2_000;
const RECHECK_MS = 200;
const EXPIRED = 'journal entries have expired; e-mails continue with the oldest entry that is kept';
/** If a page fails, or its process dies, the next page is read after this time. */
export const PAGE_LEASE_SECONDS = 5;

/** Returns a function that queues e-mails for the next confirmations and offers of a shard. Resolves to whether there were entries to read. */
function createQueue(context: MailContext, isOutside: boolean) {
  const warn = throttledWarn('cannot queue the e-mails of an event; retrying');
  return async (shardId: number) => {
    const consumers = await leaseConsumers(context.db, shardId, 'mail', EVENTS_AT_ONCE, PAGE_LEASE_SECONDS);
    const pages = consumers.map((consumer) =>
      queuePage(context, isOutside, consumer).catch((err: unknown) => {
        // It is read again when its lease ends. The other events do not wait for it.
        warn(context.log, { err, eventId: consumer.eventId });
        return false;
      }),
    );
    return (await Promise.all(pages)).includes(true);
  };
}

/** Queues an e-mail for each entry of the next page of an event. Advances the cursor in the same transaction. */
async function queuePage({ db, log }: MailContext, isOutside: boolean, consumer: Consumer): Promise<boolean> {
  const { shardId, eventId } = consumer;
  for (const kind of Object.values(KINDS))
    if (await hasQueued(db, { shardId, eventId, kind }, MOST_QUEUED)) {
      await release(db, consumer, RECHECK_MS);
      return false;
    }
  const { mode } = await findEvent(db, eventId);
  const page = await readJournal(
    db,
    { shardId, eventId, kinds: Object.keys(KINDS) as EntryKind[] },
    consumer.cursor,
    PAGE,
  );
  const isExpired = typeof page === 'string';
  if (isExpired) log.warn({ eventId, problem: page }, EXPIRED);
  const { entries, cursor, more } = isExpired ? { entries: [], cursor: 0, more: true } : page;
  // E-mails of test events must not leave this machine.
  const wanted = isOutside && mode === 'test' ? [] : entries;
  const deliveries = wanted.map(({ kind, serial, at }) => ({
    kind: KINDS[kind as EntryKind],
    subject: String(serial),
    since: at,
  }));
  await inTransaction(db, async (transaction) => {
    // Advance first, so that a process that has lost the lease queues nothing.
    if (await advance(transaction, consumer, cursor, null, PAGE_LEASE_SECONDS))
      await queueDeliveries(transaction, consumer, deliveries);
  });
  // Afterwards, so that the transaction is short: its lock can delay others that find news.
  await (more ? release : releaseCaughtUp)(db, consumer);
  return true;
}

/** A process takes at most one tenth of a second's e-mails at once, so that other processes get a share. */
const PARTS = 10;

/** Returns the rate limiter that all delivery processes share. Without MAIL_PER_SECOND there is no limit. */
function createSendingRate({ db, log, config }: MailContext): SendLoopOptions<MailMessage>['rate'] {
  const { MAIL_PER_SECOND: perSecond } = config;
  if (!perSecond) return { atOnce: Infinity, take: async () => {} };
  const lease = quotaLeases(db, log, 'mail_rate_windows')(0);
  return {
    atOnce: Math.ceil(perSecond / PARTS),
    async take(count, signal) {
      while (!signal.aborted) {
        const { admitted, endsInMs } = await lease.take(perSecond, count);
        if (admitted) return;
        await delay(endsInMs + 1, undefined, { signal }).catch(() => {});
      }
    },
  };
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
