import { Command, Help, type CommandUnknownOpts, type Option } from '@commander-js/extra-typings';
import { type Cli, endingOf } from '@floodgate/command';
import manifest from '../package.json' with { type: 'json' };
import { addDoorCommands, checkDoors } from '@floodgate/door/cli';
import { addEventCommands, addShardCommands } from '@floodgate/events/cli';
import { addJobCommands } from '@floodgate/jobs/cli';
import { addMailCommands } from '@floodgate/mail/cli';
import { addAccessCommands, addAuditCommand, addOperatorCommands } from '@floodgate/operators/cli';
import { addKeyCommands, addPartnerCommands } from '@floodgate/partners/cli';
import { addPassCommands } from '@floodgate/passes/cli';
import { addGrantCommand, addMigrateCommand } from './set-up.ts';
import { addGuestCommands, addRegistrationCommands, queueCommands } from '@floodgate/registrations/cli';
import { addRehearseCommand } from '@floodgate/rehearsal/cli';
import { addReportCommands } from '@floodgate/reports/cli';
import { addTicketCommands } from '@floodgate/tickets/cli';
import { addWaitingListCommands } from '@floodgate/waiting-list/cli';
import { addWebhookCommands } from '@floodgate/webhooks/cli';

/** In the order of the help. */
const COMMANDS = [
  addMigrateCommand,
  addGrantCommand,
  addPartnerCommands,
  addKeyCommands,
  addEventCommands,
  addTicketCommands,
  addWaitingListCommands,
  addMailCommands,
  addShardCommands,
  addRegistrationCommands,
  addGuestCommands,
  addWebhookCommands,
  addPassCommands,
  addDoorCommands,
  addReportCommands,
  ...queueCommands([checkDoors]),
  // After the groups to which it adds commands.
  addJobCommands,
  addRehearseCommand,
  addOperatorCommands,
  addAccessCommands,
  addAuditCommand,
];

/** Options of many commands, shown last in the help. */
const LAST = ['--by', '--json', '--help'];

function visibleOptions(command: CommandUnknownOpts) {
  const rank = ({ long }: Option) => LAST.indexOf(long!);
  return new Help().visibleOptions(command).toSorted((one, other) => rank(one) - rank(other));
}

/** Builds the command line. It throws CommanderError in place of ending the process. */
export function buildProgram(cli: Cli) {
  const program = new Command('floodgate')
    .description("Floodgate's operator command. Reads DATABASE_URL, QUEUE_URL and QUEUE_NAMESPACE.")
    .version(manifest.version)
    .exitOverride()
    .configureHelp({ visibleOptions })
    // runCli prints failures in one line. Commander prints only requested output, such as --help.
    .configureOutput({ writeOut: (text) => cli.stdout.write(text), writeErr: () => undefined });
  for (const add of COMMANDS) add(program, cli);
  return program;
}

/** Runs one command line and returns its exit code: 0 success, 1 failure, 2 wrong input. Never rejects. */
export async function runCli(args: readonly string[], cli: Cli) {
  try {
    await buildProgram(cli).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { line, exitCode } = endingOf(error);
    if (line !== null) cli.stderr.write(`floodgate: ${line}\n`);
    return exitCode;
  }
}
