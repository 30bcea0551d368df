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
import type { WebhookEventType, WebhookWithSecret } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import type { Refused } from './actions/webhook-action.ts';
import type { Endpoint } from './endpoints.ts';

const SHOWN_ONCE = 'Keep the secret now: it will not be shown again.';
const HOUR_MS = 3_600_000;
const TYPES = 'types of entries to send, separated by commas';
const ENTRIES = 'maximum number of entries in one message';

/** `floodgate webhook …` */
export function addWebhookCommands(program: Command, cli: Cli): void {
  const webhook = program.command('webhook').description("partners' webhooks");
  addCreate(webhook, cli);
  addList(webhook, cli);
  addShow(webhook, cli);
  addAttempts(webhook, cli);
  addUpdate(webhook, cli);
  addTest(webhook, cli);
  addReplay(webhook, cli);
  addRotate(webhook, cli);
  addState(webhook, cli, 'pause', 'stop its messages; they are sent after resume');
  addState(
    webhook,
    cli,
    'resume',
    'continue where it stopped, also if the partner paused it or it was disabled',
  );
  addState(webhook, cli, 'delete', 'delete it with its secrets and attempts');
}

// As for the API: http is accepted in development only.
const allowsHttp = ({ env }: Cli) => env['WEBHOOK_ALLOW_PRIVATE'] === 'true';

/** Returns the result of an action. Throws Failure if it was refused. */
function done<Result extends object>(outcome: Result | Refused): Result {
  if ('refused' in outcome) throw new Failure(outcome.reason);
  return outcome;
}

/** Adds a command on one webhook. */
const onOne = (webhook: Command, name: string, description: string) =>
  webhook.command(name).description(description).argument('<webhookId>', 'the webhook', parseText);

const parseTypes = (text: string) => text.split(',').map((type) => type.trim()) as WebhookEventType[];

interface Fields {
  types?: WebhookEventType[] | undefined;
  entries?: number | undefined;
  url?: string | undefined;
}

const inputOf = ({ types, entries, url }: Fields) => ({
  ...(types && { types }),
  ...(entries !== undefined && { entriesPerMessage: entries }),
  ...(url !== undefined && { url }),
});

function addCreate(webhook: Command, cli: Cli): void {
  const create = webhook
    .command('create')
    .description("send the changes of a partner's registrations under an event to a URL")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<url>', 'an https URL', parseText)
    .option('--types <types>', `${TYPES}; all by default`, parseTypes)
    .option('--entries <number>', ENTRIES, parseWhole)
    .option('--description <words>', 'a note, shown in lists', parseText)
    .addOption(
      new Option('--from <where>', 'start: at the oldest entry that is kept; now: at the next entry')
        .choices(['start', 'now'] as const)
        .default('start' as const),
    );
  answeringChange(create, cli, async (db, actor, options, eventId, partnerId, url) => {
    const { createWebhookAction, perform } = await import('./actions/index.ts');
    const { withSecret } = await import('./webhook-view.ts');
    const { description, from } = options;
    const named = description !== undefined && { description };
    const input = { ...inputOf(options), eventId, partnerId, url, from, ...named };
    return showSecret(
      withSecret(done(await perform(db, createWebhookAction(allowsHttp(cli)), input, actor))),
    );
  });
}

function showSecret(document: WebhookWithSecret): Answer {
  const { id, url, secret, publicKey } = document;
  return {
    document,
    text: `${record({ webhook: id, url, secret, 'public key': publicKey })}\n${SHOWN_ONCE}`,
  };
}

/** Returns what operators see of a webhook: what its partner sees, and more. */
async function shownOf(endpoint: Endpoint) {
  const { webhookOf } = await import('./webhook-view.ts');
  const { partnerId: partnerID, pausedBy } = endpoint;
  return { ...webhookOf(endpoint), partnerID, pausedBy };
}

type Shown = Awaited<ReturnType<typeof shownOf>>;

/** Returns the same as text. */
function fieldsOf({ partnerID, pausedBy, ...webhook }: Shown) {
  const reason = webhook.disabledReason ?? pausedBy;
  return {
    webhook: webhook.id,
    partner: partnerID,
    url: webhook.url,
    state: reason === null ? webhook.state : `${webhook.state} (${reason})`,
    cursor: webhook.cursor,
    failures: webhook.failures,
    'failing since': webhook.dateFailing,
    'next attempt': webhook.dateNextAttempt,
  };
}

function addList(webhook: Command, cli: Cli): void {
  const list = webhook
    .command('list')
    .description('the webhooks of an event with their progress and state')
    .argument('<eventId>', 'the event', parseId);
  answeringFromDatabase(list, cli, async (db, _options, eventId) => {
    const { findShard } = await import('@floodgate/events');
    const { listEndpoints } = await import('./endpoints.ts');
    const shardId = await findShard(db, eventId);
    if (shardId === undefined) throw new Failure('no such event');
    const document = await Promise.all((await listEndpoints(db, { shardId, eventId })).map(shownOf));
    return { document, text: tableOf(document.map(fieldsOf)) };
  });
}

async function requireEndpoint(db: Database, id: string): Promise<Endpoint> {
  const { findEndpointAnywhere } = await import('./endpoints.ts');
  const endpoint = await findEndpointAnywhere(db, id);
  if (!endpoint) throw new Failure('no such webhook');
  return endpoint;
}

function addShow(webhook: Command, cli: Cli): void {
  const show = onOne(webhook, 'show', 'a webhook, without its secret');
  answeringFromDatabase(show, cli, async (db, _options, id) => {
    const { findNotice } = await import('./notices.ts');
    const { lagOf } = await import('@floodgate/journal');
    const endpoint = await requireEndpoint(db, id);
    const { eventId: eventID } = endpoint;
    const [oldestMs, notice = null] = [await lagOf(db, endpoint), await findNotice(db, endpoint)];
    const document = { ...(await shownOf(endpoint)), eventID, oldestMs, notice };
    const { description, types, entriesPerMessage, publicKey } = document;
    const text = record({
      ...fieldsOf(document),
      event: eventID,
      description,
      types: types.join(', '),
      'entries per message': entriesPerMessage,
      'public key': publicKey,
      'oldest undelivered': oldestMs === null ? null : `${(oldestMs / 1_000).toFixed(1)} s`,
      'e-mail to the partner': notice && [notice.state, notice.reason].filter(Boolean).join(', '),
    });
    return { document, text };
  });
}

function addAttempts(webhook: Command, cli: Cli): void {
  const attempts = onOne(
    webhook,
    'attempts',
    'the latest attempts to send messages, latest first; attempts are kept for 30 days',
  ).option('--limit <attempts>', 'at most this many', parseLimit, 50);
  answeringFromDatabase(attempts, cli, async (db, { limit }, id) => {
    const { listAttempts } = await import('./endpoints.ts');
    const { attemptOf } = await import('./webhook-view.ts');
    const document = (await listAttempts(db, await requireEndpoint(db, id), limit)).map(attemptOf);
    return { document, text: tableOf(document) };
  });
}

function addUpdate(webhook: Command, cli: Cli): void {
  const update = onOne(webhook, 'update', 'change a webhook; its next attempt starts at once')
    .option('--url <url>', 'an https URL', parseText)
    .option('--types <types>', TYPES, parseTypes)
    .option('--entries <number>', ENTRIES, parseWhole);
  answeringChange(update, cli, async (db, actor, options, webhookId) => {
    const { perform, updateWebhookAction } = await import('./actions/index.ts');
    const input = { webhookId, ...inputOf(options) };
    const changed = done(await perform(db, updateWebhookAction(allowsHttp(cli)), input, actor));
    const document = await shownOf(changed.endpoint);
    return { document, text: record(fieldsOf(document)) };
  });
}

function addTest(webhook: Command, cli: Cli): void {
  const test = onOne(
    webhook,
    'test',
    'send a message of the type webhook.test; "attempts" shows the outcome',
  );
  answeringChange(test, cli, async (db, actor, _options, webhookId) => {
    const { perform, testWebhookAction } = await import('./actions/index.ts');
    const { messageId } = done(await perform(db, testWebhookAction, { webhookId }, actor));
    return { document: { webhookId, messageId }, text: `requested: ${messageId}` };
  });
}

function addReplay(webhook: Command, cli: Cli): void {
  const replay = onOne(
    webhook,
    'replay',
    'send all entries since a time again, as far back as entries are kept',
  ).requiredOption('--since <when>', 'a time, or how long ago (90d, 12h)', parseSince);
  answeringChange(replay, cli, async (db, actor, { since }, webhookId) => {
    const { perform, replayWebhookAction } = await import('./actions/index.ts');
    const input = { webhookId, since: since.toISOString() };
    const { cursor, was } = done(await perform(db, replayWebhookAction, input, actor));
    const document = { webhookId, cursor: String(cursor), was: String(was) };
    return { document, text: `cursor ${was} → ${cursor}` };
  });
}

function addRotate(webhook: Command, cli: Cli): void {
  const overlap = new Option('--overlap <duration>', 'how long both secrets sign (24h, 2d, 0h)');
  const rotate = onOne(
    webhook,
    'rotate',
    'create a new secret, which is shown only once; the previous one also signs for the overlap',
  ).addOption(overlap.argParser(parseDurationMs).default(24 * HOUR_MS, '24h'));
  answeringChange(rotate, cli, async (db, actor, { overlap: overlapMs }, webhookId) => {
    const { perform, rotateWebhookAction } = await import('./actions/index.ts');
    const { withSecret } = await import('./webhook-view.ts');
    const input = { webhookId, overlapHours: Math.ceil(overlapMs / HOUR_MS) };
    return showSecret(withSecret(done(await perform(db, rotateWebhookAction, input, actor))));
  });
}

function addState(
  webhook: Command,
  cli: Cli,
  name: 'pause' | 'resume' | 'delete',
  description: string,
): void {
  const command = onOne(webhook, name, description);
  answeringChange(command, cli, async (db, actor, _options, webhookId) => {
    const actions = await import('./actions/index.ts');
    const action = {
      pause: actions.pauseWebhookAction,
      resume: actions.resumeWebhookAction,
      delete: actions.deleteWebhookAction,
    }[name];
    const { endpoint } = done(await actions.perform(db, action, { webhookId }, actor));
    const state = name === 'delete' ? 'deleted' : endpoint.state;
    return { document: { webhookId, state }, text: `webhook ${webhookId}: ${state}` };
  });
}
