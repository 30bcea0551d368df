import type { Command, CommandUnknownOpts } from '@commander-js/extra-typings';
import { onChangeRun, type Answer, type Cli } from '@floodgate/command';
import { InvalidInput } from '@floodgate/service/failure';
import type { TObject, TSchema } from '@sinclair/typebox';
import type { Action } from './actions.ts';
import { inputOf, valueOf, type Given } from './input.ts';

/**
 * Returns a function that adds a command to a group. The command performs an action, which `choose` returns
 * of those that `load` imports. The action's input comes from the command's arguments and options. The
 * command prints the result with --json, otherwise the text that `answerOf` returns.
 */
export const actionCommands =
  <Actions>(group: Command, cli: Cli, load: () => Promise<Actions>) =>
  <Input extends TObject, Result>(
    name: string,
    choose: (actions: Actions) => Action<Input, Result>,
    answerOf: (result: Result, given: Given<Input>) => string | Promise<Answer>,
  ) => {
    const command = group.command(name);
    onChangeRun(command, cli, async (db, actor) => {
      const { performGiven } = await import('./actions.ts');
      const action = choose(await load());
      return withInput(command, action.input, async (given) => {
        const result = await performGiven(db, action, given, actor);
        const answer = await answerOf(result, given);
        return typeof answer === 'string' ? { document: result, text: answer } : answer;
      });
    });
    return command;
  };

/**
 * Runs `work` with the input that the command line has for a schema. The value of a field comes from the
 * option or argument that its schema names, otherwise from the one with its name. Fields without a value are
 * absent. InvalidInput names fields as the operator types them.
 */
export async function withInput<Input extends TObject, Result>(
  command: CommandUnknownOpts,
  schema: Input,
  work: (given: Given<Input>) => Promise<Result>,
) {
  const given = inputOf(schema, (field, rule) => valueOf(rule, typedFor(command, field, rule)));
  try {
    return await work(given);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const rules = Object.entries(error.rules).map(([field, rule]) => {
      return [nameOf(command, field, schema.properties[field]), rule];
    });
    throw new InvalidInput(Object.fromEntries(rules));
  }
}

/** Returns what the operator has typed for a field. */
function typedFor(command: CommandUnknownOpts, field: string, rule: TSchema): unknown {
  // An option can imply the value of a field: --test implies the mode "test".
  const implied: unknown = command.getOptionValue(field);
  if (implied !== undefined) return implied;
  const name = nameOf(command, field, rule);
  const option = command.options.find(({ long }) => long === name);
  if (option) return command.getOptionValue(option.attributeName());
  const index = command.registeredArguments.findIndex((argument) => `<${argument.name()}>` === name);
  // Commander returns [] for a missing argument that may be repeated.
  return index < command.args.length ? command.processedArgs[index] : undefined;
}

/**
 * Returns what the operator types for a field: an option, or the name of an argument. Otherwise the name of
 * the field.
 */
function nameOf(command: CommandUnknownOpts, field: string, rule?: TSchema) {
  if (rule?.option) return rule.option;
  const option = command.options.find((one) => one.attributeName() === field);
  const argument = command.registeredArguments.find((one) => one.name() === field);
  return option?.long ?? (argument ? `<${field}>` : field);
}
