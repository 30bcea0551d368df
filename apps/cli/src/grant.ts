import { Argument, type Command } from '@commander-js/extra-typings';
import { SERVICES } from '@floodgate/database/roles/privileges';
import { answeringChange, Failure, loadSettings, type Cli } from '@floodgate/command';
import { onQueue } from './migrate.ts';

const MAY_STILL_CREATE =
  'granted, but everybody may still create things in this database, and the user in DATABASE_URL cannot revoke that: ' +
  'only its owner, or whoever has granted it, can';

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
  answeringChange(command, cli, async (db, actor, _options, service, role) => {
    const { perform, grantAction } = await import('./grant-action.ts');
    const outcome = await perform(db, grantAction, { service, role }, actor);
    // The role was granted what it needs, and this stays.
    if (outcome === 'may-still-create') throw new Failure(MAY_STILL_CREATE);
    const { queue } = await loadSettings(cli.env);
    if (queue) await onQueue(({ grantQueue }) => grantQueue(queue.target, role, queue.namespace));
    const document = { service, role, queue: queue?.target.kind === 'postgres' ? 'granted' : null };
    return { document, text: `${role} may do what the ${service} needs, and nothing else` };
  });
}
