import { Option, type Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { actionCommands, withInput } from '@floodgate/audit/commands';
import { columnsOf, onChangeRun, tableOf, type Answer, type Cli } from '@floodgate/command';
import { parseCursor, parseId, parseLimit, parseText, parseWhole } from '@floodgate/command/arguments';
import type { Database } from '@floodgate/database';
import { awayText } from '@floodgate/database/reads/shards';
import type { Caller } from '@floodgate/operators';
import { COMMAND_LINE, queryCommands } from '@floodgate/operators/commands';
import { addEventFilterOptions } from '@floodgate/registrations/filter-options';
import type { Job, StartedJob } from './jobs.ts';
import type { CalledOff, CallOffPreview } from './kinds/call-off.ts';
import type { Preview } from './kinds/previewed.ts';
import { isHouse, moneyText } from './kinds/refunds.ts';

const loadOperations = async () => (await import('./console.ts')).jobOperations;
/** Called when a command runs, so that the other commands start quickly. */
const loadWatch = () => import('./watch.ts');

const JOB = ['<jobId>', 'the job', parseText] as const;

/** `floodgate job …`, and the commands of other groups that start a job. Added after these groups. */
export function addJobCommands(program: Command, cli: Cli) {
  const job = program
    .command('job')
    .description('work on many registrations at once: progress, pause, abort');
  addReading(job, cli);
  const actionCommand = actionCommands(job, cli, () => import('./actions.ts'));
  const stateText = ({ id, state }: Job) => `job ${id} is ${state}`;
  actionCommand('pause', (actions) => actions.pauseJobAction, stateText)
    .description('stop a job after its current batch, until it is resumed')
    .argument(...JOB);
  actionCommand('resume', (actions) => actions.resumeJobAction, stateText)
    .description('continue a paused job where it stopped')
    .argument(...JOB);
  actionCommand('abort', (actions) => actions.abortJobAction, stateText)
    .description('end a job after its current batch; what it has done stays done')
    .argument(...JOB);
  addStarts(program, cli);
}

function addReading(job: Command, cli: Cli) {
  const queryCommand = queryCommands(job, cli, loadOperations);
  queryCommand(
    'list',
    (operations) => operations.jobList,
    ({ jobs, away }) => ({
      text: columnsOf(jobs, [
        'id',
        'kind',
        'eventId',
        'state',
        'done',
        'failed',
        'total',
        'createdAt',
        'createdBy',
      ]),
      ...(away.length > 0 && { failure: awayText(away) }),
    }),
  )
    .description('list jobs, newest first')
    .option('--event <id>', 'only those of this event', parseId)
    .option('--limit <jobs>', 'at most this many', parseLimit, 100);
  const show = queryCommand(
    'show',
    (operations) => operations.jobShow,
    async (found, _given, db) => {
      const { jobAnswer, watchJob } = await loadWatch();
      const { watch, json } = show.opts() as { watch?: boolean; json?: boolean };
      return watch ? jobAnswer(await watchJob(db, found.id, cli, json === true), '', true) : jobAnswer(found);
    },
  )
    .description('show a job and its progress')
    .argument(...JOB)
    .option('--watch', 'wait until it ends or is paused, and show the progress');
  queryCommand(
    'failures',
    (operations) => operations.jobFailures,
    ({ failures, cursor, more }) =>
      `${columnsOf(failures, ['item', 'reason', 'at'])}\ncursor: ${cursor}${more ? ' (there is more)' : ''}`,
  )
    .description('list what a job could not do, each with the reason')
    .argument(...JOB)
    .option('--after <cursor>', 'continue from this cursor', parseCursor, 0)
    .option('--limit <items>', 'at most this many', parseLimit, 100);
}

/** A command that shows what a job would do, and with --expect starts it. */
interface StartCommand {
  group: string;
  name: string;
  description: string;
  addOptions: (command: Command<unknown[]>) => void;
  preview: (
    db: Database,
    command: CommandUnknownOpts,
    actor: string,
  ) => Promise<{ document: object; text: string }>;
  start: (db: Database, command: CommandUnknownOpts, actor: string) => Promise<StartedJob>;
}

/** Returns the command line as a caller with a name for the audit log. */
function callerNamed(name: string): Caller {
  const caller: Caller = { ...COMMAND_LINE, name, admit: () => Promise.resolve(caller) };
  return caller;
}

function addStarts(program: Command, cli: Cli) {
  const resend: Omit<StartCommand, 'group' | 'name' | 'description'> = {
    addOptions: addEventFilterOptions,
    preview: async (db, command, actor) => {
      const { jobResendPreview } = await loadOperations();
      return withInput(command, jobResendPreview.input, async (given) =>
        previewAnswer(await jobResendPreview.run(db, given, callerNamed(actor))),
      );
    },
    start: async (db, command, actor) => {
      const { jobResend } = await loadOperations();
      return withInput(command, jobResend.input, (given) => jobResend.run(db, given, callerNamed(actor)));
    },
  };
  addStart(program, cli, {
    group: 'registration',
    name: 'cancel-all',
    description:
      'cancel the registrations of an event that a filter selects; without --expect, only show them',
    addOptions: addEventFilterOptions,
    preview: async (db, command, actor) => {
      const { jobCancelPreview } = await loadOperations();
      return withInput(command, jobCancelPreview.input, async (given) =>
        previewAnswer(await jobCancelPreview.run(db, given, callerNamed(actor))),
      );
    },
    start: async (db, command, actor) => {
      const { jobCancel } = await loadOperations();
      return withInput(command, jobCancel.input, (given) => jobCancel.run(db, given, callerNamed(actor)));
    },
  });
  addStart(program, cli, {
    ...resend,
    group: 'registration',
    name: 'resend-all',
    description: 'send the passes of an event that a filter selects again; without --expect, only show them',
  });
  addStart(program, cli, {
    ...resend,
    group: 'mail',
    name: 'retry-all',
    description: 'send e-mails again that could not be delivered; without --expect, only show them',
    addOptions: (command) => {
      addEventFilterOptions(command);
      command.setOptionValueWithSource('mail', 'undeliverable', 'default');
    },
  });
  addCallOff(program, cli);
}

function addCallOff(program: Command, cli: Cli) {
  addStart(program, cli, {
    group: 'event',
    name: 'call-off',
    description:
      'call off an event: stop its sale for good, and cancel all its registrations; without --expect, only ' +
      'show what follows',
    addOptions: (command) => void command.requiredOption('--event <id>', 'the event', parseId),
    preview: async (db, command, actor) => {
      const { eventCallOffPreview } = await loadOperations();
      return withInput(command, eventCallOffPreview.input, async (given) => {
        const preview = await eventCallOffPreview.run(db, given, callerNamed(actor));
        return { document: preview, text: callOffText(preview) };
      });
    },
    start: async (db, command, actor) => {
      const { eventCallOff } = await loadOperations();
      return withInput(command, eventCallOff.input, (given) =>
        eventCallOff.run(db, given, callerNamed(actor)),
      );
    },
  });
}

function addStart(program: Command, cli: Cli, { group, name, description, ...work }: StartCommand) {
  const found = program.commands.find((one) => one.name() === group);
  const command: Command<unknown[]> = found!.command(name).description(description);
  work.addOptions(command);
  command
    .option('--expect <count>', 'start, if the preview had this many', parseWhole)
    .option('--up-to <serials>', 'as the preview says: leave out what came since', parseText)
    .addOption(new Option('--id <uuid>', 'the id of the job, so that a repeated call starts nothing twice'))
    .option('--wait', 'wait until the job ends, and show the progress');
  onChangeRun(command, cli, async (db, actor): Promise<Answer> => {
    if (command.getOptionValue('expect') === undefined) return work.preview(db, command, actor);
    const started = await work.start(db, command, actor);
    const { jobAnswer, watchJob } = await loadWatch();
    if (command.getOptionValue('wait') !== true) return jobAnswer(started, noteOn(started));
    const isJson = command.getOptionValue('json') === true;
    return jobAnswer(await watchJob(db, started.id, cli, isJson), noteOn(started), true);
  });
}

/** Returns what a start says apart from the job. */
function noteOn(started: StartedJob | CalledOff) {
  const before = 'wasCalledOffAt' in started ? started.wasCalledOffAt : null;
  const lines = [
    before && `The event was called off at ${before.toISOString()}.`,
    !started.isNew && 'This job was started before.',
    started.cameSince > 0 && `${started.cameSince} came since the preview.`,
  ].filter((line) => typeof line === 'string');
  return lines.map((line) => `${line}\n`).join('');
}

const startHint = ({ count, upTo }: Pick<Preview, 'count' | 'upTo'>) =>
  `To start, repeat the command with: --expect ${count} --up-to ${upTo.join(',')}`;

function previewAnswer(preview: Preview) {
  const { eventName, mode, count, follows, first } = preview;
  const columns = ['passReference', 'state', 'ticketTitle', 'fullName', 'emailAddress'] as const;
  const rows = first as Record<(typeof columns)[number], string | null>[];
  const more = count > first.length ? `\n… and ${count - first.length} more` : '';
  const lines = [`${eventName}${mode === 'test' ? ' (test event)' : ''}: ${count} registrations`, ...follows];
  return {
    document: preview,
    text: `${columnsOf(rows, columns)}${more}\n\n${lines.join('\n')}\n\n${startHint(preview)}`,
  };
}

function callOffText(preview: CallOffPreview) {
  const { eventName, mode, follows, seats, refunds, currency } = preview;
  const refundOf = (isGuests: boolean, amount: number) => (isGuests ? 'guests' : moneyText(amount, currency));
  const byTicket = seats.map(({ partnerId, partner, ticket, sold, held, amount }) => {
    return { partner, ticket, sold, held, refund: refundOf(isHouse({ partnerId }), amount) };
  });
  const byPartner = refunds.map(({ partnerId, partner, isGuests, seats: registrations, amount }) => {
    return { 'partner id': partnerId, partner, registrations, refund: refundOf(isGuests, amount) };
  });
  const title = `${eventName}${mode === 'test' ? ' (test event)' : ''}`;
  const tables = [byTicket, byPartner].filter((rows) => rows.length > 0).map((rows) => tableOf(rows));
  return [title, ...tables, follows.join('\n'), startHint(preview)].join('\n\n');
}
