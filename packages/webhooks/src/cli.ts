import { Option, type Command } from '@commander-js/extra-typings';
import { actionCommands } from '@floodgate/audit/commands';
import { columnsOf, record, tableOf, type Cli } from '@floodgate/command';
import {
  parseDurationMs,
  parseId,
  parseLimit,
  parseSince,
  parseText,
  parseWhole,
} from '@floodgate/command/arguments';
import type { WebhookAttempt } from '@floodgate/contract';
import { queryCommands } from '@floodgate/operators/commands';
import { ATTEMPT_COLUMNS } from './columns.ts';
import type { ChangedWebhook, ShownWebhook } from './console.ts';

const SHOWN_ONCE = 'Keep the secret now: it will not be shown again.';
const HOUR_MS = 3_600_000;

/** `floodgate webhook …` */
export function addWebhookCommands(program: Command, cli: Cli) {
  const webhook = program.command('webhook').description("partners' webhooks");
  addChanges(webhook, cli);
  addReads(webhook, cli);
}

/** Starts a command on one webhook. */
const onOne = (command: Command, description: string) =>
  command.description(description).argument('<webhookId>', 'the webhook', parseText);

const TYPES = new Option('--types <types>', 'types of entries to send, separated by commas');
TYPES.argParser((text) => text.split(',').map((type) => type.trim()));
const INCLUDE = new Option(
  '--include <fields>',
  "additional fields of each entry: partnerReference, or '' for none",
);
INCLUDE.argParser((text) => (text === '' ? [] : text.split(',')));
const ENTRIES = new Option('--entries <number>', 'maximum number of entries in one message');
ENTRIES.argParser(parseWhole);
const FROM = new Option('--from <where>', 'start: at the oldest entry that is kept; now: at the next entry');
FROM.choices(['start', 'now']).default('start');
const OVERLAP = new Option('--overlap <duration>', 'how long both secrets sign (24h, 2d, 0h)');
OVERLAP.argParser((text) => Math.ceil(parseDurationMs(text) / HOUR_MS)).default(24, '24h');
const SINCE = 'a time, or how long ago (90d, 12h)';
const parseSinceText = (text: string) => parseSince(text).toISOString();

function addChanges(webhook: Command, cli: Cli) {
  const actionCommand = actionCommands(webhook, cli, async () => {
    const { operatorActions } = await import('./console.ts');
    // As for the API: http is accepted in development only.
    return operatorActions(cli.env['WEBHOOK_ALLOW_PRIVATE'] === 'true');
  });
  actionCommand('create', (actions) => actions.create, changedText)
    .description("send the changes of a partner's registrations under an event to a URL")
    .argument('<eventId>', 'the event', parseId)
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<url>', 'an https URL', parseText)
    .addOption(TYPES)
    .addOption(INCLUDE)
    .addOption(ENTRIES)
    .option('--description <words>', 'a note about the webhook', parseText)
    .addOption(FROM);
  onOne(
    actionCommand('update', (actions) => actions.update, changedText),
    'change a webhook; its next attempt starts at once',
  )
    .option('--url <url>', 'an https URL', parseText)
    .addOption(TYPES)
    .addOption(INCLUDE)
    .addOption(ENTRIES);
  onOne(
    actionCommand('test', (actions) => actions.test, changedText),
    'send a message of the type webhook.test; "attempts" shows the outcome',
  );
  onOne(
    actionCommand('replay', (actions) => actions.replay, changedText),
    'resend all entries since a time that are still kept',
  ).requiredOption('--since <when>', SINCE, parseSinceText);
  onOne(
    actionCommand('rotate', (actions) => actions.rotate, changedText),
    'create a new secret, which is shown only once; the previous one also signs for the overlap',
  ).addOption(OVERLAP);
  onOne(
    actionCommand('pause', (actions) => actions.pause, changedText),
    'stop its messages; resume sends them',
  );
  onOne(
    actionCommand('resume', (actions) => actions.resume, changedText),
    'resume its messages where they stopped, also if the partner paused it or it was disabled',
  );
  onOne(
    actionCommand('delete', (actions) => actions.delete, deleted),
    'delete it with its secrets and attempts',
  );
}

function changedText(webhook: Omit<ChangedWebhook, 'state'> & { state: string }) {
  const { secret, publicKey, messageId, was } = webhook;
  const text = record({
    ...fieldsOf(webhook),
    ...(secret && { secret, 'public key': publicKey }),
    ...(messageId && { 'test message': messageId }),
    ...(was && { 'cursor before': was }),
  });
  return secret ? `${text}\n${SHOWN_ONCE}` : text;
}

async function deleted(webhook: ChangedWebhook) {
  const document = { ...webhook, state: 'deleted' };
  return { document, text: changedText(document) };
}

/** Returns the fields that a text answer shows. */
function fieldsOf({ pausedBy, ...webhook }: Omit<ShownWebhook, 'state'> & { state: string }) {
  const reason = webhook.disabledReason ?? pausedBy;
  return {
    webhook: webhook.id,
    partner: webhook.partnerId,
    url: webhook.url,
    state: reason === null ? webhook.state : `${webhook.state} (${reason})`,
    cursor: webhook.cursor,
    failures: webhook.failures,
    'failing since': webhook.dateFailing,
    'next attempt': webhook.dateNextAttempt,
  };
}

function addReads(webhook: Command, cli: Cli) {
  const queryCommand = queryCommands(webhook, cli, async () =>
    (await import('./console.ts')).webhookOperations(),
  );
  queryCommand(
    'list',
    (operations) => operations.webhookList,
    (webhooks) => tableOf(webhooks.map(fieldsOf)),
  )
    .description('list the webhooks of an event with their progress and state')
    .argument('<eventId>', 'the event', parseId);
  onOne(
    queryCommand('show', (operations) => operations.webhookShow, textOf),
    'show a webhook without its secret',
  );
  onOne(
    queryCommand('attempts', (operations) => operations.webhookAttempts, attemptsText),
    'list the latest attempts to send messages, latest first; attempts are kept for 30 days',
  ).option('--limit <attempts>', 'at most this many', parseLimit, 50);
}

const attemptsText = (attempts: WebhookAttempt[]) => columnsOf(attempts, ATTEMPT_COLUMNS);

function textOf({ oldestMs, notice, ...webhook }: ShownWebhook & Progress) {
  return record({
    ...fieldsOf(webhook),
    event: webhook.eventId,
    description: webhook.description,
    types: webhook.types.join(', '),
    'entries per message': webhook.entriesPerMessage,
    'public key': webhook.publicKey,
    'oldest undelivered': oldestMs === null ? null : `${(oldestMs / 1_000).toFixed(1)} s`,
    'e-mail to the partner': notice && [notice.state, notice.reason].filter(Boolean).join(', '),
  });
}

interface Progress {
  oldestMs: number | null;
  notice: { state: string; reason: string | null } | null;
}
