import path from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { NO_SETTINGS, type Mode, type Settings } from './mode.ts';
import { MODES } from './modes.ts';
import { RATES } from './rates/rate-modes.ts';

/** The settings that are numbers, by their option. */
const NUMBERS = {
  pairs: 'pairs',
  seconds: 'seconds',
  rows: 'rows',
  'redis-seconds': 'redisSeconds',
  'postgres-seconds': 'postgresSeconds',
  rate: 'rate',
} as const;
type NumberOption = keyof typeof NUMBERS;

const HELP: Record<NumberOption | 'only', string> = {
  pairs: 'rounds, each with its reference next to it',
  seconds: 'length of each load',
  rows: 'stored registrations, entries, seats or scans',
  'redis-seconds': 'how long Redis is down',
  'postgres-seconds': 'how long Postgres is down',
  rate: 'requests per second',
  only: 'comma-separated parts of names: runs only these, e.g. "hot ticket,mix"',
};

const RESULTS = path.resolve(import.meta.dirname, '../../../bench-results');

/** What the command line asks for. */
export interface Options {
  mode: Mode;
  settings: Settings;
  /** Folder of the results. */
  out: string;
  help: boolean;
}

/** Parses the command line. Throws with the reason if it is invalid. */
export function parseOptions(args: readonly string[]): Options {
  const options: ParseArgsConfig['options'] = {
    out: { type: 'string', default: RESULTS },
    help: { type: 'boolean', short: 'h', default: false },
  };
  for (const name of Object.keys(HELP)) options[name] = { type: 'string' };
  for (const { name } of MODES) options[name] = { type: name === 'against' ? 'string' : 'boolean' };
  const { values } = parseArgs({ args: [...args], options });
  const { out, help, ...given } = values;
  const mode = MODES.find(({ name }) => name in given) ?? RATES;
  return { mode, settings: settingsOf(mode, given), out: String(out), help: help === true };
}

function settingsOf(mode: Mode, given: Record<string, unknown>): Settings {
  const settings = { ...NO_SETTINGS, ...mode.usual };
  for (const [option, value] of Object.entries(given)) {
    const text = String(value);
    if (option === mode.name) {
      if (option === 'against') settings.checkout = path.resolve(text);
    } else if (option === 'only' && 'only' in mode.usual) {
      settings.only = text.split(',');
    } else if (isNumber(option) && NUMBERS[option] in mode.usual) {
      settings[NUMBERS[option]] = positive(option, text);
    } else {
      throw new Error(`--${option} does not go with ${mode === RATES ? 'the rates' : `--${mode.name}`}`);
    }
  }
  return settings;
}

const isNumber = (option: string): option is NumberOption => option in NUMBERS;

function positive(option: NumberOption, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${option} takes a whole number from 1, not ${text}`);
  return value;
}

/** Returns the text of --help. */
export function usage(): string {
  const lines = [
    'npm run bench [-- options]',
    '',
    `Without a mode, ${describe(RATES)}`,
    '',
    ...MODES.map((mode) => {
      const option = `--${mode.name}${mode.name === 'against' ? ' <folder>' : ''}`;
      return `  ${option.padEnd(20)} ${describe(mode)}`;
    }),
    '',
    ...Object.entries(HELP).map(([option, help]) => `  ${`--${option}`.padEnd(20)} ${help}`),
    `  ${'--out'.padEnd(20)} folder of the results (default: bench-results)`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns what a mode measures, how long that takes, and its options. */
function describe(mode: Mode): string {
  const seconds = mode.duration({ ...NO_SETTINGS, ...mode.usual });
  const time = seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
  const taken = Object.keys(HELP).filter(
    (option) => (isNumber(option) ? NUMBERS[option] : option) in mode.usual,
  );
  return `${mode.help}; ${time}${taken.length > 0 ? ` [${taken.join(', ')}]` : ''}`;
}
