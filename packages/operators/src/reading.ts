import type { Command } from '@commander-js/extra-typings';
import { answeringFromDatabase, inputOf, type Answer, type Cli } from '@floodgate/command';
import type { Database } from '@floodgate/database';
import type { Operation } from './operations.ts';

type PartOfAnswer = string | (Partial<Answer> & { text: string });

/**
 * Returns the text for a result of the operation. The caller states the result's type, which is not checked. `options` has the options
 * of the command that are no input of the operation, too.
 */
type AnswerOf = (
  result: never,
  input: Record<string, unknown>,
  command: { db: Database; options: Record<string, unknown> },
) => PartOfAnswer | Promise<PartOfAnswer>;

/**
 * Returns a function that adds a command to a group. The command reads by one of the operations that `load` imports. The operation's input
 * comes from the command's arguments and options. The command prints the result with --json, otherwise the text that `answerOf` returns.
 */
export const reading =
  (group: Command, cli: Cli, load: () => Promise<readonly Operation[]>) =>
  (commandName: string, id: string, answerOf: AnswerOf) => {
    const command = group.command(commandName);
    answeringFromDatabase(command, cli, async (db) => {
      const operation = (await load()).find((one) => one.id === id)!;
      const input = inputOf(command, operation.input);
      const result = await operation.run(db, input, '', () => true);
      const answer = await answerOf(result as never, input, { db, options: command.opts() });
      return { document: result, ...(typeof answer === 'string' ? { text: answer } : answer) };
    });
    return command;
  };
