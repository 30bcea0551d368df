import { Option, type Command } from '@commander-js/extra-typings';
import {
  answeringChange,
  answeringFromDatabase,
  record,
  tableOf,
  type Answer,
  type Cli,
} from '@floodgate/command';
import {
  parseDurationMs,
  parseId,
  parseLimit,
  parseSince,
  parseText,
  parseWhole,
} from '@floodgate/command/arguments';
import { Failure, InvalidInput } from '@floodgate/service/failure';
import type { Webhook, WebhookEventType, WebhookWithSecret } from '@floodgate/contract';
import type { PausedBy } from './endpoints.ts';

const SHOWN_ONCE = 'Keep the secret now: it will not be shown again.';
const HOUR_MS = 3_600_000;
const ID = ['<webhookId>', 'the webhook'] as const;

/** `floodgate webhook …` */
export function addWebhookCommands(program: Command, cli: Cli): void {
  const webhook = program.command('webhook').description("partners' webhooks");
  addCreate(webhook, cli);
  addReading(webhook, cli);
  addAttempts(webhook, cli);
  addUpdate(webhook, cli);
  addTest(webhook, cli);
  addReplay(webhook, cli);
  addRotate(webhook, cli);
  addState(webhook, cli, 'pause', 'stop its messages; what happens meanwhile is told later');
  addState(webhook, cli, 'resume', 'go on where it stopped, whoever stopped it');
  addState(webhook, cli, 'delete', 'delete it with its secrets and attempts');
}

/** Throws InvalidInput if the routes would refuse the URL: they accept http only in development. */
async function requireUrl(url: string | undefined, { env }: Cli): Promise<void> {
  const { isWebhookUrl, URL_RULE } = await import('./urls.ts');
  const isDevelopment = env['WEBHOOK_ALLOW_PRIVATE'] === 'true';
  if (url !== undefined && !isWebhookUrl(url, isDevelopment))
    throw new InvalidInput({ url: URL_RULE.replace('url: ', '') });
}

const parseTypes = (text: string) => text.split(',').map((type) => type.trim()) as WebhookEventType[];

function addCreate(webhook: Command, cli: Cli): void {
  const create = webhook
    .command('create')
    .description("send what becomes of a partner's registrations for an event to a URL")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<url>', 'an https URL', parseText)
    .option('--types <types>', 'what is told, separated by commas; all of it by default', parseTypes)
    .option('--entries <number>', 'entries of one message, at most', parseWhole)
    .option('--description <words>', 'for whoever reads the list', parseText)
    .addOption(
      new Option('--from <where>', 'what is told first')
        .choices(['start', 'now'] as const)
        .default('start' as const),
    );
  answeringChange(create, cli, async (db, actor, options, eventId, partnerId, url) => {
    const { createWebhookAction, perform } = await import('./actions.ts');
    const { withSecret } = await import('./describe.ts');
    await requireUrl(url, cli);
    const { types, entries, description, from } = options;
    const input = {
      eventId,
      partnerId,
      url,
      from,
      ...(types && { types }),
      ...(entries !== undefined && { entriesPerMessage: entries }),
      ...(description !== undefined && { description }),
    };
    return showSecret(withSecret(await perform(db, createWebhookAction, input, actor)));
  });
}

function showSecret(document: WebhookWithSecret): Answer {
  const { id, url, secret, publicKey } = document;
  return {
    document,
    text: `${record({ webhook: id, url, secret, 'public key': publicKey })}\n${SHOWN_ONCE}`,
  };
}

/** What is shown of a webhook: what its partner sees, and more. */
type Shown = Webhook & { partnerID: number; pausedBy: PausedBy | null };

const stateText = (state: string, reason: string | null) =>
  reason === null ? state : `${state} (${reason})`;

/** What a person reads of a webhook. */
const fieldsOf = ({ partnerID, pausedBy, ...webhook }: Shown) => ({
  webhook: webhook.id,
  partner: partnerID,
  url: webhook.url,
  state: stateText(webhook.state, webhook.disabledReason ?? pausedBy),
  cursor: webhook.cursor,
  failures: webhook.failures,
  'failing since': webhook.dateFailing,
  'next attempt': webhook.dateNextAttempt,
});

function addReading(webhook: Command, cli: Cli): void {
  const list = webhook
    .command('list')
    .description('the webhooks of an event, how far they have come and which were given up')
    .argument('<eventId>', 'the event', parseId);
  answeringFromDatabase(list, cli, async (db, _options, eventId) => {
    const { findShard } = await import('@floodgate/events');
    const { listEndpoints } = await import('./endpoints.ts');
    const { webhookOf } = await import('./describe.ts');
    const shardId = await findShard(db, eventId);
    if (shardId === undefined) throw new Failure('no such event');
    const endpoints = await listEndpoints(db, { shardId, eventId });
    const document = endpoints.map((one) => ({
      ...webhookOf(one),
      partnerID: one.partnerId,
      pausedBy: one.pausedBy,
    }));
    return { document, text: tableOf(document.map(fieldsOf)) };
  });
  const show = webhook
    .command('show')
    .description('a webhook, never its secret')
    .argument(...ID, parseText);
  answeringFromDatabase(show, cli, async (db, _options, id) => {
    const { requireEndpoint } = await import('./actions.ts');
    const { webhookOf } = await import('./describe.ts');
    const { findNotice } = await import('./notices.ts');
    const { lagOf } = await import('@floodgate/journal');
    const endpoint = await requireEndpoint(db, id);
    const oldestMs = await lagOf(db, endpoint);
    const notice = await findNotice(db, endpoint);
    const document = {
      ...webhookOf(endpoint),
      partnerID: endpoint.partnerId,
      pausedBy: endpoint.pausedBy,
      eventID: endpoint.eventId,
      oldestMs,
      notice: notice ?? null,
    };
    const { description, types, entriesPerMessage, publicKey } = document;
    const text = record({
      ...fieldsOf(document),
      event: endpoint.eventId,
      description,
      types: types.join(', '),
      'entries of a message': entriesPerMessage,
      'public key': publicKey,
      'oldest undelivered': oldestMs === null ? null : `${(oldestMs / 1_000).toFixed(1)} s`,
      'e-mail to the partner': notice ? [notice.state, notice.reason].filter(Boolean).join(', ') : null,
    });
    return { document, text };
  });
}

function addAttempts(webhook: Command, cli: Cli): void {
  const attempts = webhook
    .command('attempts')
    .description('the latest attempts to send messages, latest first; they are kept for 30 days')
    .argument(...ID, parseText)
    .option('--limit <attempts>', 'at most this many', parseLimit, 50);
  answeringFromDatabase(attempts, cli, async (db, { limit }, id) => {
    const { requireEndpoint } = await import('./actions.ts');
    const { listAttempts } = await import('./endpoints.ts');
    const { attemptOf } = await import('./describe.ts');
    const document = (await listAttempts(db, await requireEndpoint(db, id), limit)).map(attemptOf);
    return { document, text: tableOf(document) };
  });
}

function addUpdate(webhook: Command, cli: Cli): void {
  const update = webhook
    .command('update')
    .description('change a webhook; its next attempt is made at once')
    .argument(...ID, parseText)
    .option('--url <url>', 'an https URL', parseText)
    .option('--types <types>', 'what is told, separated by commas', parseTypes)
    .option('--entries <number>', 'entries of one message, at most', parseWhole);
  answeringChange(update, cli, async (db, actor, { url, types, entries }, webhookId) => {
    const { perform, updateWebhookAction } = await import('./actions.ts');
    const { webhookOf } = await import('./describe.ts');
    await requireUrl(url, cli);
    const input = {
      webhookId,
      ...(url !== undefined && { url }),
      ...(types && { types }),
      ...(entries !== undefined && { entriesPerMessage: entries }),
    };
    const changed = await perform(db, updateWebhookAction, input, actor);
    const { partnerId: partnerID, pausedBy } = changed;
    const document = { ...webhookOf(changed), partnerID, pausedBy };
    return { document, text: record(fieldsOf(document)) };
  });
}

function addTest(webhook: Command, cli: Cli): void {
  const test = webhook
    .command('test')
    .description('send a message of the type webhook.test; "attempts" shows what became of it')
    .argument(...ID, parseText);
  answeringChange(test, cli, async (db, actor, _options, webhookId) => {
    const { perform, testWebhookAction } = await import('./actions.ts');
    const document = await perform(db, testWebhookAction, { webhookId }, actor);
    return { document, text: `asked for: ${document.messageId}` };
  });
}

function addReplay(webhook: Command, cli: Cli): void {
  const replay = webhook
    .command('replay')
    .description('tell everything since a time once more, as far as it is kept')
    .argument(...ID, parseText)
    .requiredOption('--since <when>', 'a time, or how long ago (90d, 12h)', parseSince);
  answeringChange(replay, cli, async (db, actor, { since }, webhookId) => {
    const { perform, replayWebhookAction } = await import('./actions.ts');
    const document = await perform(db, replayWebhookAction, { webhookId, since }, actor);
    return { document, text: `cursor ${document.was} → ${document.cursor}` };
  });
}

function addRotate(webhook: Command, cli: Cli): void {
  const overlap = new Option('--overlap <duration>', 'how long both sign (24h, 2d, 0h)');
  const rotate = webhook
    .command('rotate')
    .description('make a new secret, shown only this once; the old one signs as well for the overlap')
    .argument(...ID, parseText)
    .addOption(overlap.argParser(parseDurationMs).default(24 * HOUR_MS, '24h'));
  answeringChange(rotate, cli, async (db, actor, { overlap: overlapMs }, webhookId) => {
    const { perform, rotateWebhookAction } = await import('./actions.ts');
    const { withSecret } = await import('./describe.ts');
    const input = { webhookId, overlapHours: Math.ceil(overlapMs / HOUR_MS) };
    return showSecret(withSecret(await perform(db, rotateWebhookAction, input, actor)));
  });
}

function addState(
  webhook: Command,
  cli: Cli,
  name: 'pause' | 'resume' | 'delete',
  description: string,
): void {
  const command = webhook
    .command(name)
    .description(description)
    .argument(...ID, parseText);
  answeringChange(command, cli, async (db, actor, _options, webhookId) => {
    const actions = await import('./actions.ts');
    const action = {
      pause: actions.pauseWebhookAction,
      resume: actions.resumeWebhookAction,
      delete: actions.deleteWebhookAction,
    }[name];
    const document = await actions.perform(db, action, { webhookId }, actor);
    return { document, text: `webhook ${webhookId}: ${document.state}` };
  });
}
