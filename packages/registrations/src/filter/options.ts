import { Option, type Command } from '@commander-js/extra-typings';
import { parseId, parseText, parseTimestamp } from '@floodgate/command/arguments';

const STATES = ['held', 'reserved', 'confirmed', 'failed', 'cancelled'] as const;
const MAIL_STATES = ['sent', 'waiting', 'undeliverable', 'suppressed', 'none'] as const;

/** Adds the options of a filter of registrations to a command, apart from the event. */
export function addFilterOptions(command: Command<unknown[]>) {
  command
    .option('--partner <id>', 'those of this partner', parseId)
    .option('--ticket <id>', 'those of this ticket', parseId)
    .addOption(new Option('--state <state>', 'those in this state').choices(STATES))
    .option('--sold-from <time>', 'those sold then or later, e.g. 2026-11-21T09:00:00Z', parseTimestamp)
    .option('--sold-until <time>', 'those sold before', parseTimestamp)
    .option(
      '--name <words>',
      'each word is the beginning of a word of the name; accents do not matter',
      parseText,
    )
    .option('--email <text>', 'the text is part of the address', parseText)
    .option('--phone <digits>', 'the digits are part of the phone number', parseText)
    .option('--partner-reference <reference>', 'those with this reference of the partner', parseText)
    .addOption(
      new Option('--mail <state>', 'those whose e-mail with the pass is in this state').choices(MAIL_STATES),
    )
    .addOption(
      new Option('--admitted <answer>', 'whether the seat has let in a person').choices(['true', 'false']),
    )
    .option('--failure <code>', 'those of failed batches with this reason', parseText);
}

/** Adds `--event` and the options of a filter of registrations to a command. */
export function addEventFilterOptions(command: Command<unknown[]>) {
  command.requiredOption('--event <id>', 'the event', parseId);
  addFilterOptions(command);
}
