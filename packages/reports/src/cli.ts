import { Option, type Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Cli } from '@floodgate/command';
import { parseId, parseText, parseTimeOrNone } from '@floodgate/command/arguments';
import { columnsOf } from '@floodgate/command/output';
import { amountText } from '@floodgate/events/currency';
import { queryCommands } from '@floodgate/operators/commands';
import type { CancellationsRow, Report, SettlementRow } from './console.ts';

type Cell = string | number | Date | null;

/** `floodgate report …` */
export function addReportCommands(program: Command, cli: Cli) {
  const report = program.command('report').description('what was sold, and who came');
  const queryCommand = queryCommands(
    report,
    cli,
    async () => (await import('./console.ts')).reportOperations,
  );
  const sales = queryCommand(
    'sales',
    (operations) => operations.reportSales,
    (result) => textOf(result, ['at', 'ticket', 'partner', 'sold', 'cancelled']),
  )
    .description('sold and cancelled seats by day or hour, ticket and partner')
    .argument('<eventId>', 'the event', parseId)
    .addOption(
      new Option('--by <step>', 'the step in time; day by default').choices(['hour', 'day'] as const),
    );
  addPeriod(sales);
  addFormat(sales);
  const settlement = queryCommand('settlement', (operations) => operations.reportSettlement, settlementText)
    .description('what each partner sold and cancelled, by ticket and price')
    .argument('<eventId>', 'the event', parseId);
  addPeriod(settlement);
  addFormat(settlement);
  const cancellations = queryCommand(
    'cancellations',
    (operations) => operations.reportCancellations,
    cancellationsText,
  )
    .description('cancelled seats by day, ticket, partner and price')
    .argument('<eventId>', 'the event', parseId);
  addPeriod(cancellations);
  addFormat(cancellations);
  const attendance = queryCommand(
    'attendance',
    (operations) => operations.reportAttendance,
    (result) => textOf(result, ['ticket', 'partner', 'expected', 'came', 'noShows', 'cameAndCancelled']),
  )
    .description('who was expected, who came and who did not, by ticket and partner')
    .argument('<eventId>', 'the event', parseId);
  addFormat(attendance);
  const admissions = queryCommand(
    'admissions',
    (operations) => operations.reportAdmissions,
    (result) => textOf(result, ['at', 'gate', 'ticket', 'admitted', 'arrived']),
  )
    .description('admissions by quarter of an hour, gate and ticket')
    .argument('<eventId>', 'the event', parseId);
  addPeriod(admissions);
  addFormat(admissions);
  queryCommand(
    'story',
    (operations) => operations.registrationStory,
    ({ story }) => columnsOf(story, ['at', 'what', 'by', 'passReference']),
  )
    .description('everything that happened to the seat of a registration, in order')
    .argument('<passReference>', 'its pass reference', parseText);
}

function addPeriod(command: CommandUnknownOpts) {
  command
    .option('--from <time>', 'only from then on, e.g. 2026-12-01T00:00:00+01:00', parseTimeOrNone)
    .option('--until <time>', 'only before then', parseTimeOrNone);
}

function addFormat(command: CommandUnknownOpts) {
  command
    .option('--partner <id>', 'only this partner', parseId)
    .option('--ticket <id>', 'only this ticket', parseId)
    .addOption(
      new Option('--format <format>', 'a table for a spreadsheet').choices(['csv', 'excel'] as const),
    )
    .addOption(
      new Option('--separator <name>', 'what separates the cells of csv and excel; comma by default').choices(
        ['comma', 'semicolon', 'tab'] as const,
      ),
    );
}

/** Returns a settlement as text, with the decimals of its currency. */
function settlementText(report: Response | Report<SettlementRow>) {
  const fields = ['partner', 'ticket', 'currency', 'price', 'sold', 'cancelled', 'netAmount'] as const;
  if (report instanceof Response) return textOf(report, fields);
  const rows = report.rows.map((row) => ({
    ...row,
    price: amountText(row.price, row.currency),
    netAmount: amountText(row.netAmount, row.currency),
  }));
  return textOf({ rows }, fields);
}

/** Returns cancellations as text, with the decimals of their currency. */
function cancellationsText(report: Response | Report<CancellationsRow>) {
  const fields = ['at', 'partner', 'ticket', 'currency', 'price', 'cancelled', 'cancelledAmount'] as const;
  if (report instanceof Response) return textOf(report, fields);
  const rows = report.rows.map((row) => ({
    ...row,
    price: amountText(row.price, row.currency),
    cancelledAmount: amountText(row.cancelledAmount, row.currency),
  }));
  return textOf({ rows }, fields);
}

/** Returns the text of a report: its file for a spreadsheet, or a table of these fields. */
async function textOf<Field extends string>(
  report: Response | { rows: readonly Readonly<Record<Field, Cell>>[] },
  fields: readonly Field[],
) {
  return report instanceof Response ? (await report.text()).trimEnd() : columnsOf(report.rows, fields);
}
