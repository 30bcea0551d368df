import type { Command } from '@commander-js/extra-typings';
import { answeringChange, inputOf, type Answer, type Cli } from '@floodgate/command';
import type { Static, TObject } from '@sinclair/typebox';
import type { Action } from './actions.ts';

type AnyAction = Action<TObject, never>;
type Done<Performed> =
  Performed extends Action<infer Input, infer Result> ? { result: Result; input: Static<Input> } : never;

/**
 * Returns a function that adds a command to a group. The command performs an action that `load` imports. The action's input comes from
 * the command's arguments and options; `fields` is the `names` of inputOf. The command prints the result with --json, otherwise the text
 * that `answerOf` returns.
 */
export const performing =
  <Actions>(group: Command, cli: Cli, load: () => Promise<Actions>) =>
  <Name extends keyof Actions>(
    commandName: string,
    actionName: Name,
    answerOf: (
      result: Done<Actions[Name]>['result'],
      input: Done<Actions[Name]>['input'],
    ) => string | Promise<Answer>,
    fields: Record<string, string> = {},
  ) => {
    const command = group.command(commandName);
    answeringChange(command, cli, async (db, actor) => {
      const { perform } = await import('./actions.ts');
      const action = (await load())[actionName] as AnyAction;
      const input = inputOf(command, action.input, fields);
      const result = await perform(db, action, input, actor);
      const answer = await answerOf(result, input);
      return typeof answer === 'string' ? { document: result, text: answer } : answer;
    });
    return command;
  };
