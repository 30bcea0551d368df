import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { table } from './table.ts';

/** Returns the reference of all commands as Markdown: a section for each, in the order of --help. */
export function describeCommands(program: CommandUnknownOpts): string {
  return leavesOf(program).map(describeCommand).join('\n');
}

function leavesOf(command: CommandUnknownOpts): CommandUnknownOpts[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return children.length === 0 ? [command] : children.flatMap(leavesOf);
}

function describeCommand(command: CommandUnknownOpts): string {
  const help = command.createHelp();
  const rows = [
    ...help.visibleArguments(command).map((one) => [`<${one.name()}>`, help.argumentDescription(one)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((one) => [help.optionTerm(one), help.optionDescription(one)]),
  ].map(([term, description]) => [`\`${term}\``, description!]);
  const usage = help.commandUsage(command);
  const title = usage.replace(/ [[<].*/, '');
  return [`## ${title}`, command.description(), `\`${usage}\``, table(['', 'meaning'], rows)].join('\n\n');
}
