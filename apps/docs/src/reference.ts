import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ApiConfig } from '@floodgate/api/config';
import { buildProgram } from '@floodgate/cli/program';
import { CliEnvironment } from '@floodgate/command/read-settings';
import { ConsoleConfig } from '@floodgate/console';
import { DeliveryConfig } from '@floodgate/delivery';
import { StandaloneConfig } from '@floodgate/standalone/config';
import { WorkerConfig } from '@floodgate/worker/config';
import { describeCommands } from './describe-commands.ts';
import { describeDecisions } from './describe-decisions.ts';
import { describePeople } from './describe-people.ts';
import { describeResponseCodes } from './describe-response-codes.ts';
import { describeSettings } from './describe-settings.ts';
import { postmanCollection, type DescribedApi } from './postman-collection.ts';

const folder = path.resolve(import.meta.dirname, '../reference');
const published = path.resolve(import.meta.dirname, '../public');

const service = path.resolve(import.meta.dirname, '../../../packages/service/src');

/** The script that the API serves at /docs/reference.js. */
export const REFERENCE_SCRIPT = path.resolve(
  import.meta.dirname,
  '../../../packages/http/browser/api-reference.js.gz',
);

/** Returns the same script as its package has it. */
export const readReferenceScript = () =>
  readFileSync(new URL('browser/standalone.js', import.meta.resolve('@scalar/api-reference')));

/** What the API serves: test/http/contract.test.ts writes it. */
const readContract = () =>
  JSON.parse(readFileSync(path.join(published, 'openapi.json'), 'utf8')) as DescribedApi;

const SETTINGS = {
  API: ApiConfig,
  worker: WorkerConfig,
  delivery: DeliveryConfig,
  console: ConsoleConfig,
  command: CliEnvironment,
  '`npm start`': StandaloneConfig,
};

const GENERATED = {
  // The commands are described, not run: they need nothing of what they would be given.
  'cli.md': () => describeCommands(buildProgram({} as never)),
  'response-codes.md': describeResponseCodes,
  'settings.md': () => describeSettings(SETTINGS),
  '../guide/people.md': describePeople,
  '../decisions/index.md': () => describeDecisions(path.join(folder, '../decisions')),
};

/** Where the introduction of a page ends, which is written by hand. */
const MARK = '<!-- generated -->';

export interface ReferencePage {
  name: string;
  file: string;
  /** What the page holds. */
  written: string;
  /** What it should hold: its introduction, and what the schemas say today. */
  wanted: string;
}

/**
 * Returns the pages of the reference, the collection and the names of settings. Throws where one has no place
 * for what is generated.
 */
export function referencePages(): ReferencePage[] {
  return [
    ...Object.entries(GENERATED).map(([name, generate]) => {
      const file = path.join(folder, name);
      const written = readFileSync(file, 'utf8');
      const end = written.indexOf(MARK);
      if (end < 0) throw new Error(`${file} lacks ${MARK}`);
      const generated = `<!-- prettier-ignore-start -->\n\n${generate()}\n<!-- prettier-ignore-end -->\n`;
      return { name, file, written, wanted: `${written.slice(0, end)}${MARK}\n\n${generated}` };
    }),
    jsonFile(published, 'floodgate.postman_collection.json', postmanCollection(readContract())),
    jsonFile(service, 'setting-names.json', settingNames()),
  ];
}

/**
 * Names of the settings of all processes: each of them knows those of the others, so that it does not take
 * them for mistakes.
 */
const settingNames = () =>
  [...new Set(Object.values(SETTINGS).flatMap(({ properties }) => Object.keys(properties)))].toSorted();

function jsonFile(directory: string, name: string, content: unknown): ReferencePage {
  const file = path.join(directory, name);
  const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return { name, file, written, wanted: `${JSON.stringify(content, null, 2)}\n` };
}
