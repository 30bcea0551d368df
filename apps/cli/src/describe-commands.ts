import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { TObject } from '@sinclair/typebox';

/** Returns the reference of all commands as Markdown: a section for each, in the order of --help. */
export function describeCommands(program: CommandUnknownOpts): string {
  return leavesOf(program).map(describeCommand).join('\n');
}

/** Returns a table of the environment variables that a schema names, as Markdown. */
export function describeSettings({ properties, required = [] }: TObject): string {
  const rows = Object.entries(properties).map(([name, { default: byDefault, description = '' }]) => {
    const absent = required.includes(name) ? 'required' : '–';
    return [`\`${name}\``, byDefault === undefined ? absent : `\`${byDefault}\``, description];
  });
  return table(['variable', 'default', 'meaning'], rows);
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

function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return `${[headings, headings.map(() => '---'), ...rows].map(line).join('\n')}\n`;
}
