import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { table } from './table.ts';

/** An argument or an option of a command, as --help describes it. */
interface Part {
  /** The name as the usage of a command shows it, such as `--json`. */
  name: string;
  /** The name with its value, such as `--by <who>`. */
  term: string;
  meaning: string;
  /** An argument, or an option that must be given. */
  isInUsage: boolean;
}

/** A part with one meaning in at least this many commands is described once, above all commands. */
const SHARED_FROM = 4;

/**
 * Returns the reference of all commands as Markdown: what many commands share, then a section for each command,
 * in the order of --help. The usage of a command names what must be given and what it shares; its own options
 * are listed below it.
 */
export function describeCommands(program: CommandUnknownOpts): string {
  const commands = leavesOf(program);
  const shared = sharedParts(commands);
  const described: Described = new Map();
  const rows = [...shared.values()].map(({ term, meaning }) => [`\`${term}\``, meaning]);
  return [
    '## Arguments and options of several commands',
    table(['', 'meaning'], rows).trim(),
    ...commands.map((command) => describeCommand(command, shared, described)),
  ].join('\n\n');
}

function leavesOf(command: CommandUnknownOpts): CommandUnknownOpts[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return children.length === 0 ? [command] : children.flatMap(leavesOf);
}

function partsOf(command: CommandUnknownOpts): Part[] {
  const help = command.createHelp();
  const args = help.visibleArguments(command).map((argument) => ({
    name: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    term: `<${argument.name()}>`,
    meaning: help.argumentDescription(argument),
    isInUsage: true,
  }));
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => ({
      name: option.mandatory ? option.flags : `[${option.long ?? option.flags}]`,
      term: help.optionTerm(option),
      meaning: help.optionDescription(option),
      isInUsage: option.mandatory,
    }));
  return [...args, ...options];
}

const keyOf = ({ term, meaning }: Part) => `${term}: ${meaning}`;

/** The parts that many commands have with the same meaning, by their key. */
function sharedParts(commands: readonly CommandUnknownOpts[]): Map<string, Part> {
  const byKey = Map.groupBy(commands.flatMap(partsOf), keyOf);
  const shared = [...byKey].filter(([, parts]) => parts.length >= SHARED_FROM);
  return new Map(shared.map(([key, parts]) => [key, parts[0]!]));
}

/** What was described before: title of the command, by group and key of a part, or by all that a command does. */
type Described = Map<string, string>;

function describeCommand(
  command: CommandUnknownOpts,
  shared: ReadonlyMap<string, Part>,
  described: Described,
): string {
  const title = titleOf(command);
  const parts = partsOf(command);
  const content = [command.description(), ...parts.map(keyOf)].join('\n');
  const twin = described.get(content);
  if (twin) return `## ${title}\n\nThe same as \`${twin}\`.`;
  described.set(content, title);
  const isShared = (part: Part) => shared.has(keyOf(part));
  const own = parts.filter((part) => !isShared(part));
  const usage = parts.filter((part) => part.isInUsage || isShared(part)).map(({ name }) => name);
  return [
    `## ${title}`,
    `\`${usage.join(' ')}\`: ${command.description()}`,
    ...(own.length > 0 ? [describeParts(own, title, described)] : []),
  ].join('\n\n');
}

/** Describes arguments, and options that no earlier command of the group has described. Names the other options. */
function describeParts(parts: readonly Part[], title: string, described: Described): string {
  const group = title.split(' ')[0]!;
  const seen = Map.groupBy(parts, (part) =>
    part.term.startsWith('--') ? described.get(`${group} ${keyOf(part)}`) : undefined,
  );
  const lines = (seen.get(undefined) ?? []).map((part) => {
    described.set(`${group} ${keyOf(part)}`, title);
    return `- \`${part.term}\`: ${part.meaning.replaceAll('<', '&lt;')}`;
  });
  seen.delete(undefined);
  const others = [...seen].map(
    ([first, same]) => `- as for \`${first}\`: ${same.map(({ term }) => `\`${term}\``).join(', ')}`,
  );
  return [...lines, ...others].join('\n');
}

const titleOf = (command: CommandUnknownOpts): string =>
  command
    .createHelp()
    .commandUsage(command)
    .replaceAll(/^floodgate | [[<].*/g, '');
