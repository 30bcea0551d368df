import type { Command } from '@commander-js/extra-typings';
import { answeringFromDatabase, parseId, table, type Cli } from '@floodgate/command';

/** `floodgate feedback …` */
export function addFeedbackCommands(program: Command, cli: Cli): void {
  const list = program
    .command('feedback')
    .description('what partners have to say')
    .command('list')
    .description('list the feedback of an event')
    .argument('<eventId>', 'the event', parseId);
  answeringFromDatabase(list, cli, async (db, _options, eventId) => {
    const { listFeedback } = await import('./list-feedback.ts');
    const rows = await listFeedback(db, eventId);
    const cells = rows.map(({ id, text, forwardedAt }) => [id, text, forwardedAt]);
    return { document: rows, text: table(['id', 'text', 'forwarded'], cells) };
  });
}
