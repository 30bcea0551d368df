import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

// The rule for imports: a package imports only from packages below it. See ARCHITECTURE.md, "The packages".

const ROOT = path.resolve(import.meta.dirname, '../..');

/** From the bottom up. */
const BELOW_CAPABILITIES = [
  ['contract'],
  ['service'],
  ['database', 'queue', 'metrics'],
  ['http', 'command', 'embedded-postgres'],
  ['audit', 'journal', 'deliveries', 'operators'],
];
/** Every other package, so that a new one needs no entry here, and the scanner (apps/door), which the API serves. */
const CAPABILITIES = [
  'door-app',
  ...readdirSync(path.join(ROOT, 'packages')).filter(
    (name) => ![...BELOW_CAPABILITIES.flat(), 'client', 'toolchain'].includes(name),
  ),
];
const APPS = ['api', 'worker', 'delivery', 'console', 'cli', 'standalone'];
/** What partners install: it knows the service by its contract alone. */
const CLIENT = 'client';
/** They read from all of them: the documentation, and the benchmark with what it shares with the tests. */
const ABOVE_APPS = ['docs', 'bench', 'test'];

interface Import {
  /** Of the file, below the root. */
  file: string;
  /** The folder that the file lies in, like packages/queue. */
  folder: string;
  specifier: string;
}

const IMPORT = /(?:^(?:import|export)[^;]*? from |^import |import\()'([^']+)'/gm;

function importsOf(pattern: string): Import[] {
  return globSync(pattern, { cwd: ROOT }).flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const folder = file.split(path.sep).slice(0, 2).join('/');
    return Array.from(text.matchAll(IMPORT), ([, specifier]) => ({ file, folder, specifier: specifier! }));
  });
}

const isProduct = ({ file }: Import) => !file.includes('.test');
const productImports = [...importsOf('packages/*/src/**/*.ts'), ...importsOf('apps/*/src/**/*.ts')].filter(
  isProduct,
);

/** Which folders of ours each folder imports, with a file that does. */
function edges(): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const { file, folder, specifier } of productImports) {
    const target = /^@floodgate\/([a-z-]+)/.exec(specifier)?.[1];
    const name = folder.split('/')[1]!;
    if (!target || target === name) continue;
    if (!found.has(name)) found.set(name, new Map());
    found.get(name)!.set(target, file);
  }
  return found;
}

const levelOf = (folder: string): number => {
  const level = BELOW_CAPABILITIES.findIndex((folders) => folders.includes(folder));
  if (level >= 0) return level;
  if (CAPABILITIES.includes(folder)) return BELOW_CAPABILITIES.length;
  if (APPS.includes(folder)) return BELOW_CAPABILITIES.length + 1;
  if (folder === CLIENT) return 0;
  if (ABOVE_APPS.includes(folder)) return BELOW_CAPABILITIES.length + 2;
  throw new Error(`${folder} has no place in the layout: give it one here and in ARCHITECTURE.md`);
};

test('every folder has its place, and imports only from folders below it', () => {
  const upward = [...edges()].flatMap(([folder, targets]) =>
    [...targets]
      .filter(
        ([target]) =>
          levelOf(target) > levelOf(folder) ||
          (levelOf(folder) === BELOW_CAPABILITIES.length + 1 && levelOf(target) === levelOf(folder)),
      )
      .map(([target, file]) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

test('folders import each other in no circle', () => {
  const imports = edges();
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(imports.get(from)?.keys() ?? [])].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  expect([...imports.keys()].filter((folder) => reaches(folder, folder))).toEqual([]);
});

test('no relative import leaves its folder', () => {
  const leaving = productImports.filter(({ file, folder, specifier }) => {
    if (!specifier.startsWith('.')) return false;
    const target = path.join(path.dirname(file), specifier);
    return !target.startsWith(`${folder}${path.sep}`);
  });
  expect(leaving.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
});

test('the client, which is published, imports nothing of ours', () => {
  const ofClient = productImports.filter(({ folder }) => folder === `packages/${CLIENT}`);
  expect(
    new Set(ofClient.map(({ specifier }) => specifier).filter((name) => !name.startsWith('./'))),
  ).toEqual(new Set(['node:crypto', 'node:timers/promises', 'undici']));
  const contract = readFileSync(path.join(ROOT, 'packages/client/src/contract.ts'), 'utf8');
  expect(contract).not.toMatch(/\b(?:import|require|process|Buffer)\b/);
});

test("an app knows a capability by its face, and tests know no app's sources", () => {
  const faces: Record<string, string> = {
    'apps/api': 'api',
    'apps/worker': 'worker',
    'apps/delivery': 'delivery',
    'apps/cli': 'cli',
    'apps/console': 'console',
  };
  const pastTheFace = productImports.filter(({ folder, specifier }) => {
    const [, capability, face] = /^@floodgate\/([a-z-]+)(?:\/([a-z-]+))?$/.exec(specifier) ?? [];
    return faces[folder] && CAPABILITIES.includes(capability ?? '') && face !== faces[folder];
  });
  const intoApps = importsOf('test/**/*.ts').filter(({ specifier }) =>
    /\/apps\/[a-z]+\/src\//.test(specifier),
  );
  expect([...pastTheFace, ...intoApps].map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual(
    [],
  );
});

test('the journal alone writes who reads it', () => {
  const writes =
    /(?:insertInto|updateTable|deleteFrom)\('journal_consumers|(?:insert into|update|delete from) journal_consumers/;
  const files = globSync('{packages,apps}/*/src/**/*.ts', { cwd: ROOT }).filter(
    (file) => !file.includes('.test'),
  );
  const writers = files.filter((file) => writes.test(readFileSync(path.join(ROOT, file), 'utf8')));
  expect(writers.filter((file) => !file.startsWith('packages/journal/'))).toEqual([]);
  // Else it would look for what nobody writes.
  expect(writers).not.toEqual([]);
});
