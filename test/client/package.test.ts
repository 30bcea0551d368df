import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';

const { test, given } = apiTest({
  sharesEvent: true,
  own: 'what other files left would change what is measured',
});

// What partners install: built, packed, installed from the tarball into a project of its own, and used
// against the service.

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The oldest of each line that the package accepts, by what npm would take them for. */
const UNDICI = ['6.29.1', '7.30.2', '8.12.4'];

const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund'];

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

let project: string;
let filename: string;
let packedFiles: { path: string }[];
let environment: NodeJS.ProcessEnv;

const run = promisify(execFile);

/** Runs npm, or what else a partner runs, in the project. */
const inProject = (file: string, ...args: string[]) => run(file, args, { cwd: project, env: environment });

const TSC_OPTIONS = [
  '--noEmit',
  '--strict',
  '--module',
  'nodenext',
  '--target',
  'es2022',
  '--lib',
  'es2022,dom',
  '--types',
  '',
];

/** Checks files as at a partner's, where not even the types of the libraries are skipped. Resolves to what is wrong. */
const tsc = (...files: string[]) =>
  inProject(
    process.execPath,
    path.join(ROOT, 'node_modules/typescript/bin/tsc'),
    ...TSC_OPTIONS,
    ...files,
  ).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );

const noRegistry = missingPackages() === '' || process.env['CI'] ? '' : 'needs a package registry';

/** What is neither in npm's cache nor to be had. */
function missingPackages(): string {
  const view = (version: string) => ['view', '--prefer-offline', `undici@${version}`, 'version'];
  return UNDICI.filter((version) => spawnSync('npm', view(version)).status !== 0).join();
}

interface Packed {
  filename: string;
  files: { path: string }[];
}

/** npm says what it packed as a list, or since npm 12 by name. What is in front was said by the build. */
function readPacked(output: string): Packed {
  const document = JSON.parse(output.slice(output.search(/^[[{]$/m))) as Packed[] | Record<string, Packed>;
  return Object.values(document)[0]!;
}

test.beforeAll(async () => {
  if (noRegistry !== '') return;
  directory = await temporaryDirectory();
  project = directory.file('project');
  await mkdir(project);
  // As whoever publishes it does, in its folder.
  const pack = ['pack', '--json', '--pack-destination', directory.path];
  const packed = execFileSync('npm', pack, { cwd: path.join(ROOT, 'packages/client'), stdio: 'pipe' });
  ({ filename, files: packedFiles } = readPacked(packed.toString()));
  const { secretKey, eventRef, addTicket } = await createFixture(given.database.db);
  environment = {
    // With the registry that this machine uses.
    ...process.env,
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH']}`,
    BASE: given.api.baseUrl,
    SECRET_KEY: secretKey,
    EVENT_REF: eventRef,
    TICKET_ID: String(await addTicket()),
  };
  await writeFile(path.join(project, 'package.json'), '{ "name": "partner", "private": true }');
  await inProject('npm', ...INSTALL, directory.file(filename));
});

afterAll(async () => {
  if (noRegistry !== '') return;
  await directory[Symbol.asyncDispose]();
});

const USE = `
const { BASE: baseUrl, SECRET_KEY: secretKey, EVENT_REF: eventRef, TICKET_ID } = process.env;
const client = createClient({ baseUrl, secretKey, eventRef });
const organizedEventTicketID = Number(TICKET_ID);
const emails = ['a@example.com', 'b@example.com', 'c@example.com'];
Promise.all(
  emails.map((emailAddress) => client.register({ fullName: 'Jane', emailAddress, organizedEventTicketID })),
).then(async (results) => {
  const launch = await client.launch();
  console.log(results.map(({ code }) => code).join(), launch.code, RESPONSE_CODES['32'].message);
  await client.close();
});
`;
const USED = '00,00,00 00 The ticket is sold out\n';
const SCRIPTS = {
  'use.mjs': `import { createClient, RESPONSE_CODES } from '@floodgate/client';${USE}`,
  'use.cjs': `const { createClient, RESPONSE_CODES } = require('@floodgate/client');${USE}`,
};

describe.skipIf(noRegistry !== '')(`a partner's project${noRegistry && ` (skipped: ${noRegistry})`}`, () => {
  test.each(UNDICI)(
    'as an ES module and as CommonJS it registers, with undici %s',
    async (version) => {
      await inProject('npm', ...INSTALL, '--no-save', `undici@${version}`);
      const installed = await readFile(path.join(project, 'node_modules/undici/package.json'), 'utf8');
      expect(JSON.parse(installed)).toMatchObject({ version });
      for (const [file, script] of Object.entries(SCRIPTS)) {
        await writeFile(path.join(project, file), script);
        expect((await inProject(process.execPath, file)).stdout).toBe(USED);
      }
    },
    120_000,
  );

  const TYPED = `
import { createClient, type RegisterResult } from '@floodgate/client';
import { RESPONSE_CODES, type ResponseCode, type Ticket } from '@floodgate/client/contract';

export async function register(tickets: Ticket[]): Promise<string> {
  const client = createClient({ baseUrl: 'http://127.0.0.1', secretKey: 'fg_', eventRef: 'e' });
  const organizedEventTicketID = tickets[0]!.id;
  return say(await client.register({ fullName: 'Jane', emailAddress: 'a@b.c', organizedEventTicketID }));
}

function say(result: RegisterResult): string {
  switch (result.code) {
    case '00':
      return result.passReference;
    case '30':
    case '31':
    case '32':
    case '33':
    case '37':
      return RESPONSE_CODES[result.code satisfies ResponseCode].message;
    case '10':
    case '11':
    case '12':
    case '20':
    case '21':
    case '40':
    case '50':
    case '90':
      return result.message;
    case 'unknown':
      return result.idempotencyKey;
    case 'other':
      return result.responseCode ?? String(result.status);
    default:
      return result satisfies never;
  }
}
`;

  test('its types hold for ES modules and for CommonJS, and a switch over the codes is exhaustive', async () => {
    await writeFile(path.join(project, 'typed.mts'), TYPED);
    await writeFile(path.join(project, 'typed.cts'), TYPED);
    await writeFile(path.join(project, 'forgotten.mts'), TYPED.replace("    case '32':\n", ''));
    expect(await tsc('typed.mts', 'typed.cts')).toBe('');
    expect(await tsc('forgotten.mts')).toMatch(/does not satisfy the expected type 'never'/);
  });

  /** The code blocks of a document, in order. Those of a list are indented. */
  async function snippetsOf(document: string): Promise<string> {
    const text = await readFile(path.join(ROOT, document), 'utf8');
    return Array.from(text.matchAll(/^ *```ts\n(.*?)^ *```$/gms), ([, code]) => code).join('\n');
  }

  const NODE_GLOBALS = 'declare const process: { env: Record<string, string | undefined> };\n';

  test("the guide's snippets hold, and do what they say", async () => {
    await writeFile(
      path.join(project, 'guide.mts'),
      NODE_GLOBALS + (await snippetsOf('apps/docs/guide/client.md')),
    );
    expect(await tsc('guide.mts')).toBe('');
    const { stdout } = await inProject(process.execPath, 'guide.mts');
    expect(stdout.split('\n').slice(0, 8)).toEqual([
      expect.stringMatching(/^welcome: GALA-/),
      expect.stringMatching(/^fullName minLength fullName: required, /),
      expect.stringMatching(/^emailAddress format emailAddress: required, /),
      '[',
      expect.stringMatching(/^ {2}'welcome: GALA-/),
      expect.stringMatching(/^ {2}'welcome: GALA-/),
      expect.stringMatching(/^ {2}'welcome: GALA-/),
      ']',
    ]);
    expect(stdout).toMatch(/\]\ntrue\n\[ '00', '00', '00' \]\n/);
    expect(stdout).toMatch(/Standing \d+\npaid and confirmed\n00\n/);
    expect(stdout).toMatch(
      /no pass before it is confirmed: 35\nrevoked up to cursor \d+: [\d, ]*\nstore it: whsec_\n00\n$/,
    );
  });

  test("the README's snippet holds", async () => {
    const { BASE, SECRET_KEY, EVENT_REF } = environment;
    const input = `const [baseUrl, secretKey, eventRef] = ${JSON.stringify([BASE, SECRET_KEY, EVENT_REF])} as const;`;
    const snippet = await snippetsOf('packages/client/README.md');
    await writeFile(path.join(project, 'readme.mts'), `${input}\n${snippet}\nawait client.close();`);
    expect(await tsc('readme.mts')).toBe('');
    expect((await inProject(process.execPath, 'readme.mts')).stdout).toMatch(/^(?:GALA-|30)/);
  });

  test('the contract needs no other file, so that a browser can load it', async () => {
    const installed = path.join(project, 'node_modules/@floodgate/client');
    const text = await readFile(path.join(installed, 'dist/esm/contract.js'), 'utf8');
    expect(text).not.toMatch(/\b(?:import|require|process|Buffer)\b/);
    const { RESPONSE_CODES } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
      RESPONSE_CODES: object;
    };
    expect(Object.keys(RESPONSE_CODES)).toContain('00');
  });

  test('the package holds what it needs and nothing else', async () => {
    const { stdout } = await inProject('npm', 'ls', '--all', '--parseable', '--omit=dev');
    const names = stdout.trim().split('\n').slice(1);
    expect(names.map((name) => path.relative(path.join(project, 'node_modules'), name))).toEqual([
      '@floodgate/client',
      'undici',
    ]);
    const manifest = await readFile(
      path.join(project, 'node_modules/@floodgate/client/package.json'),
      'utf8',
    );
    expect(JSON.parse(manifest)).toMatchObject({ license: 'MIT', sideEffects: false });
    expect(manifest).not.toContain('workspace:');
    const others = packedFiles
      .map((file) => file.path)
      .filter((file) => !/^dist\/(?:esm|cjs)\/[\w-]+(?:\.d\.ts|\.js)$/.test(file));
    expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'dist/cjs/package.json', 'package.json']);
  });
});
