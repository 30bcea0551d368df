import { Argument, type Command } from 'commander';
import { grantPrivileges, SERVICES, type GrantOutcome, type ServiceName } from '@floodgate/database';
import { answering, withDatabase, type Cli, Failure, type Answer, loadSettings } from '@floodgate/command';
import { attemptQueue } from './migrate.ts';

const STATEMENT_TIMEOUT_MS = 30_000;

const REFUSALS: Record<Exclude<GrantOutcome, 'granted'>, string> = {
  'no-such-role': 'no such login role; make it first: create role … login password …',
  'too-powerful':
    'this role is an administrator, owns something or is a member of another role; a service needs one of its own',
  'may-still-create':
    'granted, but everybody may still create things in this database, and the user in DATABASE_URL cannot revoke that: ' +
    'only its owner, or whoever has granted it, can',
};

/** `floodgate grant` */
export function addGrantCommand(program: Command, cli: Cli): void {
  const command = program
    .command('grant')
    .description(
      'give an existing login role what a service needs of the database, and the queue where it is in Postgres, ' +
        'and nothing else; safe to repeat, and to be repeated after migrate',
    )
    .addArgument(new Argument('<service>', 'whose role it is').choices(SERVICES))
    .argument('<role>', 'the user in the DATABASE_URL of that service');
  answering(command, cli, (_options: object, service: ServiceName, role: string) =>
    grantAll(cli, service, role),
  );
}

async function grantAll(cli: Cli, service: ServiceName, role: string): Promise<Answer> {
  const { databaseUrl, queue } = loadSettings(cli.env);
  const outcome = await withDatabase(cli, databaseUrl, STATEMENT_TIMEOUT_MS, (db) =>
    grantPrivileges(db, service, role),
  );
  if (outcome !== 'granted') throw new Failure(REFUSALS[outcome]);
  if (queue) await attemptQueue(() => cli.grantQueue(queue.target, role, queue.namespace));
  const document = { service, role, queue: queue?.target.kind === 'postgres' ? 'granted' : null };
  return { document, text: `${role} may do what the ${service} needs, and nothing else` };
}
