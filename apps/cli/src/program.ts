import { Command, Help, type CommandUnknownOpts, type Option } from '@commander-js/extra-typings';
import { addAuditCommand } from '@floodgate/audit/cli';
import { type Cli, endingOf } from '@floodgate/command';
import manifest from '../package.json' with { type: 'json' };
import { addEventCommands, addShardCommands } from '@floodgate/events/cli';
import { addMailCommands } from '@floodgate/mail/cli';
import { addKeyCommands, addPartnerCommands } from '@floodgate/partners/cli';
import { addPassCommands } from '@floodgate/passes/cli';
import { addGrantCommand, addMigrateCommand } from './set-up.ts';
import {
  addQueueCommands,
  addReconcileCommand,
  addRedriveCommand,
  addRegistrationCommands,
} from '@floodgate/registrations/cli';
import { addTicketCommands } from '@floodgate/tickets/cli';
import { addWebhookCommands } from '@floodgate/webhooks/cli';

/** Options that many commands have stand last in their help. */
const LAST = ['--by', '--json', '--help'];

function visibleOptions(command: CommandUnknownOpts) {
  const rank = ({ long }: Option) => LAST.indexOf(long!);
  return new Help().visibleOptions(command).toSorted((one, other) => rank(one) - rank(other));
}

/** Builds the command line. It throws CommanderError where it would otherwise end the process. */
export function buildProgram(cli: Cli): Command {
  const program = new Command('floodgate')
    .description("Floodgate's operator command. Reads DATABASE_URL, QUEUE_URL and QUEUE_NAMESPACE.")
    .version(manifest.version)
    .exitOverride()
    .configureHelp({ visibleOptions })
    // runCli prints failures, in one line; this is for requested output, such as --help.
    .configureOutput({ writeOut: (text) => cli.stdout.write(text), writeErr: () => undefined });
  addMigrateCommand(program, cli);
  addGrantCommand(program, cli);
  addPartnerCommands(program, cli);
  addKeyCommands(program, cli);
  addEventCommands(program, cli);
  addTicketCommands(program, cli);
  addMailCommands(program, cli);
  addShardCommands(program, cli);
  addRegistrationCommands(program, cli);
  addWebhookCommands(program, cli);
  addPassCommands(program, cli);
  addQueueCommands(program, cli);
  addRedriveCommand(program, cli);
  addReconcileCommand(program, cli);
  addAuditCommand(program, cli);
  return program;
}

/** Runs one command line and returns its exit code: 0 well, 1 failed, 2 wrong input. Never rejects. */
export async function runCli(args: readonly string[], cli: Cli): Promise<number> {
  try {
    await buildProgram(cli).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { line, exitCode } = endingOf(error);
    if (line !== null) cli.stderr.write(`floodgate: ${line}\n`);
    return exitCode;
  }
}
