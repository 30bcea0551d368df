import { Option, type Command } from '@commander-js/extra-typings';
import { actionCommands, withInput } from '@floodgate/audit/commands';
import { columnsOf, onChangeRun, record, tableOf, timeText, type Cli } from '@floodgate/command';
import { parseId, parseText, parseTimeOrNone, parseWhole } from '@floodgate/command/arguments';
import { queryCommands } from '@floodgate/operators/commands';
import type { Event } from './events.ts';

const loadActions = () => import('./actions.ts');
const loadOperations = async () => (await import('./console.ts')).eventOperations;

const EVENT = ['<eventId>', 'the event', parseId] as const;

const SHARED_PREFIX =
  'Another event has the same prefix: their pass references differ only in the number that follows it.';

const CANCEL_UNTIL = 'deadline for cancellations by partners, e.g. 2026-12-01T00:00:00Z, or none';

const CURRENCY = 'currency of its prices, e.g. EUR, or none; it stays once something was sold';

const TEST = new Option('--test', 'a test event, for test keys only; this cannot be changed later');

/** `floodgate event …` */
export function addEventCommands(program: Command, cli: Cli) {
  const event = program.command('event').description('events, and the partners that can register for them');
  const actionCommand = actionCommands(event, cli, loadActions);
  actionCommand('create', (actions) => actions.createEventAction, createdText)
    .description('add an event')
    .argument('<name>', 'its name', parseText)
    .requiredOption('--prefix <letters>', 'prefix of its pass references: 2 to 8 of A–Z and 0–9')
    .addOption(
      new Option('--duplicates <policy>', 'the answer to an e-mail address that is registered already')
        .choices(['allow', 'reject', 'return_existing'])
        .default('allow'),
    )
    .addOption(
      new Option(
        '--duplicates-of <what>',
        'whether an address can register once per event or once per ticket',
      )
        .choices(['event', 'ticket'])
        .default('event'),
    )
    .option('--cancel-until <time>', CANCEL_UNTIL, parseTimeOrNone)
    .option('--currency <code>', CURRENCY, parseText)
    .addOption(TEST.implies({ mode: 'test' }));
  addUpdate(event, cli);
  queryCommands(event, cli, loadOperations)('list', (operations) => operations.eventList, listText)
    .description('list events')
    .option('--archived', 'those that are archived');
  queryCommands(event, cli, loadOperations)(
    'partners',
    (operations) => operations.eventPartners,
    (sellers) => columnsOf(sellers, ['partnerId', 'partner', 'openKeys', 'disabledAt']),
  )
    .description('list the partners that may sell an event, with their open keys for it')
    .argument(...EVENT);
  queryCommands(event, cli, loadOperations)(
    'of-partner',
    (operations) => operations.partnerEvents,
    (events) => columnsOf(events, ['eventId', 'event', 'mode', 'startsAt', 'archivedAt', 'openKeys']),
  )
    .description('list the events that a partner may sell, with its open keys for each')
    .argument('<partnerId>', 'the partner', parseId);
  actionCommand('archive', (actions) => actions.archiveEventAction, archivedText)
    .description('hide an event whose tickets are off sale from lists')
    .argument(...EVENT);
  actionCommand('restore', (actions) => actions.restoreEventAction, archivedText)
    .description('show an archived event in lists')
    .argument(...EVENT);
  actionCommand('grant', (actions) => actions.grantEventAction, accessText)
    .description("open an event to a partner's keys")
    .argument(...EVENT)
    .argument('<partnerId>', 'the partner', parseId);
  actionCommand('revoke', (actions) => actions.revokeEventAction, accessText)
    .description("close an event to a partner's keys")
    .argument(...EVENT)
    .argument('<partnerId>', 'the partner', parseId);
}

function addUpdate(event: Command, cli: Cli) {
  const update = event
    .command('update')
    .description('change the given settings of an event')
    .argument(...EVENT)
    .option('--name <name>', 'its name', parseText)
    .option('--cancel-until <time>', CANCEL_UNTIL, parseTimeOrNone)
    .option('--starts <time>', 'e.g. 2026-11-21T19:00:00+01:00, or none', parseTimeOrNone)
    .option('--ends <time>', 'e.g. 2026-11-21T23:00:00+01:00, or none', parseTimeOrNone)
    .option('--venue <place>', 'its place, or none', parseText)
    .option('--time-zone <name>', 'the time zone of its times, e.g. Europe/Berlin, or none', parseText)
    .option('--language <code>', 'language of e-mails to attendees: en or de', parseText)
    .option('--currency <code>', CURRENCY, parseText)
    .option('--reply-to <address>', "address for attendees' replies, or none", parseText)
    .option(
      '--mail-operator-cancels <true|false>',
      'whether attendees get an e-mail if an operator cancels',
      parseText,
    )
    .option(
      '--mail-partner-cancels <true|false>',
      'whether attendees get an e-mail if the partner cancels',
      parseText,
    )
    .option('--notify-holders', 'send the new time and place to attendees whose e-mail is out of date');
  onChangeRun(update, cli, async (db, actor) => {
    const { perform, performGiven } = await import('@floodgate/audit');
    const { notifyHoldersAction, updateEventAction } = await loadActions();
    const { notifyHolders } = update.opts();
    const [eventId] = update.processedArgs;
    const [updated, notified] = await withInput(update, updateEventAction.input, async (given) => {
      const isChange = Object.keys(given).length > 1 || !notifyHolders;
      const after = isChange ? await performGiven(db, updateEventAction, given, actor) : null;
      // Only after the change is committed.
      return [after, notifyHolders ? await perform(db, notifyHoldersAction, { eventId }, actor) : null];
    });
    const lines = [
      updated && record({ 'event id': eventId, ...fieldsOf(updated), ...detailsOf(updated) }),
      notified && `${notified.notified} e-mails with the time and place are queued`,
      !notified && updated?.outdatedEmails && outdatedText(updated),
    ];
    return { document: { ...updated, ...notified }, text: lines.filter(Boolean).join('\n') };
  });
}

const outdatedText = ({ id, outdatedEmails }: Event & { outdatedEmails: number }) =>
  `Warning: ${outdatedEmails} e-mails with the old name, time or place were sent. ` +
  `Their passes stay valid. To send an update: floodgate event update ${id} --notify-holders`;

/** `floodgate shard …` */
export function addShardCommands(program: Command, cli: Cli) {
  const shard = program.command('shard').description('the shards of events');
  queryCommands(shard, cli, loadOperations)(
    'list',
    (operations) => operations.shardList,
    (shards) => tableOf(shards.map(({ id, events }) => ({ shard: id, events }))),
  ).description('list shards and the number of events in each');
  const actionCommand = actionCommands(shard, cli, loadActions);
  actionCommand(
    'move',
    (actions) => actions.moveEventAction,
    (done) => `event ${done.eventId} lives in shard ${done.shardId}`,
  )
    .description('move an event without registrations')
    .argument(...EVENT)
    .argument('<shardId>', 'its new shard', parseWhole);
}

const archivedText = ({ eventId, archived }: { eventId: number; archived: boolean }) =>
  `event ${eventId} is ${archived ? '' : 'not '}archived`;

const accessText = (access: { eventId: number; partnerId: number; granted: boolean }) =>
  `event ${access.eventId} is ${access.granted ? 'open' : 'closed'} to partner ${access.partnerId}`;

function createdText({ prefixIsShared, ...created }: Event & { prefixIsShared: boolean }) {
  const fields = record({ 'event id': created.id, ...fieldsOf(created) });
  return prefixIsShared ? `${fields}\n${SHARED_PREFIX}` : fields;
}

function listText(events: Event[]) {
  const hasShards = events.some(({ shardId }) => shardId > 0);
  const isAnyCalledOff = events.some(({ calledOffAt }) => calledOffAt !== null);
  const rowOf = (event: Event) => ({
    id: event.id,
    ...(hasShards && { shard: event.shardId }),
    ...fieldsOf(event),
    starts: event.startsAt,
    ...(isAnyCalledOff && { 'called off': event.calledOffAt }),
    created: event.createdAt,
  });
  return tableOf(events.map(rowOf));
}

/** Returns the columns of an event for text output. */
function fieldsOf(event: Event) {
  const { ref, name, mode, passPrefix, duplicatePolicy, duplicateScope, cancelUntil, currency } = event;
  const duplicates = duplicatePolicy === 'allow' ? duplicatePolicy : `${duplicatePolicy} (${duplicateScope})`;
  const cancellable = cancelUntil ? `until ${timeText(cancelUntil)}` : 'any time';
  return { 'x-event-ref': ref, name, mode, prefix: passPrefix, duplicates, cancellable, currency };
}

function detailsOf({ startsAt, endsAt, venue, timeZone, language, replyTo, ...event }: Event) {
  return {
    starts: startsAt,
    ends: endsAt,
    venue,
    'time zone': timeZone,
    language,
    'reply to': replyTo,
    'e-mail if an operator cancels': event.mailOperatorCancels,
    'e-mail if the partner cancels': event.mailPartnerCancels,
  };
}
