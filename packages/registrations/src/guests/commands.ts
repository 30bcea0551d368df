import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Command } from '@commander-js/extra-typings';
import { actionCommands, withInput } from '@floodgate/audit/commands';
import {
  createProgressBar,
  Failure,
  loadSettings,
  operatorName,
  reasonOf,
  withDatabase,
  withSignature,
  type Cli,
} from '@floodgate/command';
import { parseId, parseText } from '@floodgate/command/arguments';
import type { GuestRow, ImportProgress, ImportSummary } from './import-guests.ts';

const EVENT = ['<eventId>', 'the event', parseId] as const;

/** `floodgate guest …` */
export function addGuestCommands(program: Command, cli: Cli) {
  const guest = program.command('guest').description("the operator's own guests");
  actionCommands(guest, cli, () => import('./actions.ts'))(
    'add',
    (actions) => actions.addGuestAction,
    ({ passReference, isNew }) => `${isNew ? 'registered' : 'already registered'}: ${passReference}`,
  )
    .description('register one guest, also before the sale begins')
    .argument(...EVENT)
    .argument('<ticketId>', 'the ticket', parseId)
    .argument('<name>', 'the full name', parseText)
    .argument('<address>', 'the e-mail address', parseText)
    .option('--phone <number>', 'the phone number', parseText)
    .option('--reference <reference>', 'your own reference, which tells the guest from others', parseText);
  addImport(guest, cli);
}

const collect = (value: string, before: string[]) => [...before, value];

function addImport(guest: Command, cli: Cli) {
  const command = withSignature(guest.command('import'))
    .description(
      'register the guests of a CSV file in UTF-8, each once, also if the file is sent again; exit 1 if a row ' +
        'is refused',
    )
    .argument(...EVENT)
    .argument('<file>', 'its first row names the columns: name, email, and phone, ticket, reference')
    .option('--ticket <id>', 'the ticket of rows that name none', parseId)
    .option('--dry-run', 'store nothing, and print what would become of each row')
    .option(
      '--map <columns=field>',
      'columns of another name: "Vorname+Nachname=fullName"; repeatable',
      collect,
      [],
    )
    .option('--json', 'print each row as a line of JSON, then the summary');
  command.action(async (_eventId, file, { json = false, by }) => {
    const { GuestImport } = await import('./actions.ts');
    const { decodeGuestList } = await import('./decode-guest-list.ts');
    const { importGuests } = await import('./import-guests.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    const show = reporter(cli, json);
    const { refused } = await withInput(command, GuestImport, async (given) => {
      const input = { ...given, csv: decodeGuestList(await readGuestFile(file)) };
      return withDatabase(databaseUrl, STATEMENT_TIMEOUT_MS, async (db) => {
        const summary = await importGuests(db, input, operatorName(by), show.progress);
        await show.summary(summary);
        return summary;
      });
    });
    if (refused > 0) throw new Failure(`${refused} ${refused === 1 ? 'row is' : 'rows are'} refused`);
  });
}

const STATEMENT_TIMEOUT_MS = 30_000;

const readGuestFile = (file: string) =>
  readFile(file).catch((error: unknown) => {
    throw new Failure(`cannot read the file: ${reasonOf(error)}`);
  });

/** Returns what prints rows, a progress bar if somebody watches, and the summary. */
function reporter(cli: Cli, json: boolean) {
  const { stdout } = cli;
  const bar = createProgressBar(cli);
  const print = async (lines: readonly string[]) => {
    // A slow reader of standard output must not fill the memory.
    if (lines.length > 0 && stdout.write(`${lines.join('\n')}\n`) === false && stdout instanceof EventEmitter)
      await once(stdout, 'drain');
  };
  return {
    progress: async ({ rows, done, total }: ImportProgress) => {
      bar.clear();
      await print(json ? rows.map((row) => JSON.stringify(row)) : rows.filter(isShown).map(rowText));
      bar.show(done, total, 'rows');
    },
    summary: async (summary: ImportSummary) => {
      bar.clear();
      await print([json ? JSON.stringify({ summary }) : summaryText(summary)]);
    },
  };
}

/** Nobody reads thousands of guests who are registered. A dry run shows every row. */
const isShown = ({ outcome, reason }: GuestRow) => outcome === 'would-register' || reason !== null;

const rowText = ({ line, outcome, reason }: GuestRow) =>
  `line ${line}: ${outcome.replaceAll('-', ' ')}${reason === null ? '' : `: ${reason}`}`;

function summaryText({
  registered,
  alreadyRegistered,
  duplicates,
  refused,
  dryRun,
  ignoredColumns,
}: ImportSummary) {
  const counts = [
    `${dryRun ? 'would register' : 'registered'}: ${registered}`,
    `already registered: ${alreadyRegistered}`,
    `duplicates in the file: ${duplicates}`,
    `refused: ${refused}`,
  ];
  const ignored = ignoredColumns.length > 0 ? `\nignored columns: ${ignoredColumns.join(', ')}` : '';
  // A header must not send control characters to the terminal.
  return counts.join(', ') + ignored.replaceAll(/(?!\n)\p{Cc}/gu, '?');
}
