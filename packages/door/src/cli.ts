import { Option, type Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { actionCommands } from '@floodgate/audit/commands';
import type { Cli } from '@floodgate/command';
import { NONE, parseId, parseText, parseTimeOrNone } from '@floodgate/command/arguments';
import { columnsOf, record, tableOf, timeText } from '@floodgate/command/output';
import type { Database } from '@floodgate/database';
import { queryCommands } from '@floodgate/operators/commands';
import type { Device } from './devices.ts';
import type { Gate } from './gates.ts';
import type { DoorReport } from './report.ts';

/** The report of the doors says this if no ticket let in more people than it has seats. */
const PROVED = 'no ticket let in more people than it has seats, without the exceptions';

const EVENT = ['<eventId>', 'the event', parseId] as const;
const DEVICE = ['<deviceId>', 'the device', parseId] as const;

const loadActions = () => import('./actions.ts');
const loadOperations = async () => (await import('./console.ts')).doorOperations;

const parseIds = (text: string) => text.split(',').map(parseId);
const parseIdsOrNone = (text: string) => (text === NONE ? NONE : parseIds(text));

/** Returns what is wrong at the doors of all events, for `floodgate status`. */
export const checkDoors = async (db: Database) => (await import('./check-doors.ts')).checkDoors(db);

/** `floodgate gate …`, `floodgate device …` and `floodgate door …` */
export function addDoorCommands(program: Command, cli: Cli) {
  addGateCommands(program, cli);
  addDeviceCommands(program, cli);
  const door = program.command('door').description('who was let in');
  queryCommands(door, cli, loadOperations)(
    'report',
    (operations) => operations.doorReport,
    (report) => ({
      text: reportText(report),
      ...(!report.complete && { failure: 'the list of scans is not complete' }),
    }),
  )
    .description('show admissions, conflicts, refused and missing scans, and whether they are complete')
    .argument(...EVENT);
  addCountCommands(door, cli);
}

function addCountCommands(door: Command, cli: Cli) {
  const queryCommand = queryCommands(door, cli, loadOperations);
  queryCommand(
    'counts',
    (operations) => operations.doorCounts,
    ({ gates, tickets, conflicts, silent }) =>
      [
        columnsOf(gates, ['id', 'name', 'area', 'admitted', 'inside']),
        columnsOf(tickets, ['ticketId', 'ticket', 'area', 'admitted', 'inside']),
        `conflicts: ${conflicts}`,
        `silent devices: ${silent.length}`,
        columnsOf(silent, ['id', 'name', 'lastContactAt']),
      ].join('\n\n'),
  )
    .description('count the people let in and inside, by gate and by ticket, and name the silent devices')
    .argument(...EVENT);
  queryCommand(
    'story',
    (operations) => operations.doorStory,
    ({ entries }) => columnsOf(entries, ['at', 'what', 'reason', 'gate', 'device', 'passReference']),
  )
    .description('show what happened at the door to the person on a seat, in order')
    .argument('<passReference>', 'its pass reference', parseText);
}

function addGateCommands(program: Command, cli: Cli) {
  const gate = program.command('gate').description('where passes are scanned');
  const actionCommand = actionCommands(gate, cli, loadActions);
  const textOf = (one: Gate) => record({ 'gate id': one.id, ...gateFieldsOf(one) });
  const create = actionCommand('create', (actions) => actions.createGateAction, textOf)
    .description('add a gate to an event')
    .argument(...EVENT)
    .argument('<name>', 'its name', parseText)
    .option('--area <name>', 'gates of one area share their admissions; "main" by default', parseText)
    .addOption(
      new Option(
        '--entry-rule <rule>',
        'how often a pass is admitted in the area; "once" by default',
      ).choices(['once', 're-entry', 'any'] as const),
    );
  const update = actionCommand('update', (actions) => actions.updateGateAction, textOf)
    .description('change the given settings of a gate')
    .argument(...EVENT)
    .argument('<gateId>', 'the gate', parseId)
    .option('--name <name>', 'its name', parseText);
  addGateOptions(create);
  addGateOptions(update);
  queryCommands(gate, cli, loadOperations)(
    'list',
    (operations) => operations.gateList,
    (gates) =>
      tableOf(
        gates.map(({ admitted, inside, ...one }) => ({ id: one.id, ...gateFieldsOf(one), admitted, inside })),
      ),
  )
    .description('list the gates of an event, with the number of people')
    .argument(...EVENT);
}

function addGateOptions(command: CommandUnknownOpts) {
  command
    .option('--tickets <ids>', 'the tickets that it admits, separated by commas; none: all', parseIdsOrNone)
    .option('--opens <time>', 'e.g. 2026-12-01T18:00:00+01:00, or none', parseTimeOrNone)
    .option('--closes <time>', 'when it closes, or none', parseTimeOrNone)
    .addOption(new Option('--shows-names', "its devices show attendees' names").implies({ showsNames: true }))
    .addOption(new Option('--hides-names', 'its devices show no names').implies({ showsNames: false }));
}

function addDeviceCommands(program: Command, cli: Cli) {
  const device = program.command('device').description('the scanners at the gates');
  const actionCommand = actionCommands(device, cli, loadActions);
  const withCode = async ({ id, code, codeExpiresAt }: Device & { code: string }) => {
    const { default: encodeQR } = await import('qr');
    const fields = { 'device id': id, code, expires: codeExpiresAt };
    const text = `${record(fields)}\n\n${encodeQR(code, 'ascii')}`;
    return { text, document: fields };
  };
  actionCommand('create', (actions) => actions.createDeviceAction, withCode)
    .description('add a device, and print the code that enrols it: once, within 10 minutes')
    .argument(...EVENT)
    .argument('<name>', 'its name', parseText)
    .requiredOption('--gates <ids>', 'where it may scan, separated by commas', parseIds);
  actionCommand('code', (actions) => actions.renewDeviceCodeAction, withCode)
    .description('print another code for a device that is not enrolled')
    .argument(...EVENT)
    .argument(...DEVICE);
  actionCommand(
    'revoke',
    (actions) => actions.revokeDeviceAction,
    ({ id, lost }) => `device ${id} is ${lost ? 'lost' : 'revoked'}`,
  )
    .description('revoke a device, which erases its data')
    .argument(...EVENT)
    .argument(...DEVICE)
    .option('--lost', 'the device is lost, so its last scans will not arrive');
  queryCommands(device, cli, loadOperations)(
    'list',
    (operations) => operations.deviceList,
    (devices) => tableOf(devices.map(deviceFieldsOf)),
  )
    .description('list the devices of an event')
    .argument(...EVENT);
}

function gateFieldsOf({ name, area, entryRule, tickets, opensAt, closesAt, showsNames }: Gate) {
  const window = { opens: opensAt, closes: closesAt };
  return { name, area, rule: entryRule, tickets: tickets?.join(' ') ?? 'all', ...window, names: showsNames };
}

function deviceFieldsOf(device: Device) {
  const { id, name, gates, version, lastContactAt, lastCounter, received, revokedAt, signedOffAt } = device;
  const scans = { scans: lastCounter, received };
  const times = { 'last contact': lastContactAt, 'signed off': signedOffAt, revoked: revokedAt };
  return { id, name, gates: gates.join(' '), version, ...scans, ...times };
}

/** Returns the report as text: the verdict first, then the numbers, then every conflict. */
function reportText({ name, complete, open, except, conflicts, ...report }: DoorReport): string {
  const gates = report.gates.map(({ id, name: gate, area, admitted, inside }) => {
    return { id, gate, area, admitted, inside };
  });
  const devices = report.devices.map(({ id, name: device, state, lastCounter, received, ...rest }) => {
    const { undone, lastContactAt } = rest;
    return { id, device, state, scans: lastCounter, received, undone, 'last contact': lastContactAt };
  });
  const tickets = report.tickets.map(({ ticketId: id, ticket, area, sold, people, exceptions: of }) => {
    return { id, ticket, area, sold, people, exceptions: of };
  });
  const refused = report.refused.map(({ outcome, scans, letIn }) => {
    return { reason: outcome, scans, 'let in offline': letIn };
  });
  const side = ({ gate, device, at }: Pick<(typeof conflicts)[number]['first'], 'gate' | 'device' | 'at'>) =>
    `${timeText(at)} ${gate} (${device})`;
  // The passes of a conflict differ if the attendee was changed.
  const passesOf = ({ first, again }: (typeof conflicts)[number]) =>
    [...new Set([first.passReference, again.passReference])].join(', ');
  return [
    `${name}: the list of scans is ${complete ? 'complete' : 'not complete'}`,
    ...[...open, ...except].map((line) => `  ${line}`),
    `\n${tableOf(gates)}`,
    `\n${tableOf(devices)}`,
    `\npeople and seats: ${report.proved ? PROVED : 'MORE PEOPLE THAN SEATS'}`,
    tableOf(tickets),
    `\nconflicts: ${conflicts.length}`,
    ...conflicts.map((one) => `  ${passesOf(one)}: ${side(one.first)}, again ${side(one.again)}`),
    `\ncancelled seats that were admitted: ${report.cancelled.length}`,
    ...report.cancelled.map(
      (one) => `  ${one.passReference}: ${side(one)}, cancelled ${timeText(one.cancelledAt)}`,
    ),
    `\nlet in offline, and refused by the server: ${report.letIn.length}`,
    ...report.letIn.map(({ passReference, reason, seat, ...one }) => {
      const also = seat ? `; the seat was admitted with ${seat.passReference}: ${side(seat)}` : '';
      return `  ${passReference ?? 'no registration'}: ${reason}, ${side(one)}${also}`;
    }),
    `\nrefused scans:`,
    tableOf(refused),
  ].join('\n');
}
