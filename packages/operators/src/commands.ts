import type { Command } from '@commander-js/extra-typings';
import { withInput } from '@floodgate/audit/commands';
import type { Given } from '@floodgate/audit/input';
import { onDatabaseRun, type Answer, type Cli } from '@floodgate/command';
import type { Database } from '@floodgate/database';
import type { TObject } from '@sinclair/typebox';
import { COMMAND_LINE } from './caller.ts';
import type { Query } from './operations.ts';

export { COMMAND_LINE };

type PartOfAnswer = string | (Partial<Answer> & { text: string });

/**
 * Returns a function that adds a command to a group. The command reads by an operation, which `choose`
 * returns of those that `load` imports. The operation's input comes from the command's arguments and options.
 * The command prints the result with --json, otherwise the text that `answerOf` returns.
 */
export const queryCommands =
  <Operations>(group: Command, cli: Cli, load: () => Promise<Operations>) =>
  <Input extends TObject, Result>(
    name: string,
    choose: (operations: Operations) => Query<Input, Result>,
    answerOf: (result: Result, given: Given<Input>, db: Database) => PartOfAnswer | Promise<PartOfAnswer>,
  ) => {
    const command = group.command(name);
    onDatabaseRun(command, cli, async (db) => {
      const operation = choose(await load());
      return withInput(command, operation.input, async (given) => {
        const result = await operation.run(db, given, COMMAND_LINE);
        const answer = await answerOf(result, given, db);
        return { document: result, ...(typeof answer === 'string' ? { text: answer } : answer) };
      });
    });
    return command;
  };
