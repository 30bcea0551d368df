// node packages/toolchain/run.mjs <file> [arguments…] runs a file of this workspace on the pinned Node.js, after installing
// what is missing. The machine's own Node.js (18 or newer) executes this: it is plain JavaScript without dependencies.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const parent = process.ppid;
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const isWindows = process.platform === 'win32';
const pinnedNode = path.join(root, 'node_modules/node/bin', isWindows ? 'node.exe' : 'node');

const [file, ...args] = process.argv.slice(2);

// Under load these flags halve an API's memory. Why each of them: apps/docs/decisions/22-v8-flags.md.
const SMALL_PROCESS = JSON.parse(read('packages/toolchain/small-process.json'));
/** The folders of the apps of production. They need a third of the disk space of everything. */
const SERVICES = Object.keys(SMALL_PROCESS.flags);
/** The one to run. Files elsewhere run as Node.js does by itself. */
const service = SERVICES.find((folder) => file.startsWith(`${folder}/`));

/** The last installation: a hash of the files that decide it, and whether it was everything or only the services. */
const state = path.join(root, 'node_modules/.floodgate-installed');
const [installedHash, installed = 'everything'] = existsSync(state)
  ? readFileSync(state, 'utf8').split(' ')
  : ['', 'nothing'];

// Not package.json: what it depends on stands in the lockfile as well, or cannot be installed.
const wantedHash = ['pnpm-lock.yaml', 'pnpm-workspace.yaml']
  .reduce((hash, name) => hash.update(read(name)), createHash('sha256'))
  .digest('hex');
// A complete installation stays complete.
const wanted = service && installed !== 'everything' ? 'services' : 'everything';

if (!existsSync(pinnedNode) || installedHash !== wantedHash || installed !== wanted) {
  const { packageManager } = JSON.parse(read('package.json'));
  const filters = ['floodgate', ...SERVICES.map((app) => `@floodgate/${path.basename(app)}...`)];
  const selection = wanted === 'services' ? ['--prod', ...filters.map((name) => `--filter=${name}`)] : [];
  process.stderr.write(`floodgate: installing dependencies (${wanted}, once)\n`);
  // CI=true: never ask, never leave the lockfile changed. --trust-lockfile: what it pins was looked at when it was committed. Else
  // pnpm asks for the release date of each package, which takes longer than the packages.
  const { status } = spawnSync(
    'npx',
    ['--yes', packageManager, 'install', '--frozen-lockfile', '--trust-lockfile', ...selection],
    {
      cwd: root,
      env: { ...process.env, CI: 'true' },
      stdio: ['ignore', 2, 2],
      shell: isWindows,
    },
  );
  if (status !== 0 || !existsSync(pinnedNode)) {
    process.stderr.write('floodgate: installing the dependencies failed; see the messages above\n');
    process.exit(1);
  }
  // Headers are a third of the size of Node.js. They are for compiling add-ons, and nothing here is compiled.
  const binaries = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const headers = path.join(root, 'node_modules/node/node_modules', binaries, 'include');
  rmSync(headers, { recursive: true, force: true });
  writeFileSync(state, `${wantedHash} ${wanted}`);
}

// `npm start` hands its flags on to the API and the worker that it starts.
const flags = service ? [...SMALL_PROCESS.everyFlags, ...SMALL_PROCESS.flags[service]] : [];
const child = spawn(pinnedNode, [...flags, path.resolve(root, file), ...args], {
  // The channel's end tells an app that this process was killed.
  stdio: ['inherit', 'inherit', 'inherit', ...(service ? ['ipc'] : [])],
  env: {
    ...(service && SMALL_PROCESS.env),
    ...process.env,
    // Spares every further start the stripping and compiling, and the processes the memory for it.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || path.join(root, 'node_modules/.cache/node-compile'),
    PATH: `${path.dirname(pinnedNode)}${path.delimiter}${process.env.PATH}`,
  },
});
// A signal that was sent to this process alone is passed on: npm forwards SIGTERM and SIGINT. A terminal's Ctrl-C reaches
// the child as well; the apps stop once for two of them, other programs give up at the second.
process.on('SIGINT', () => {
  if (service || !process.stdin.isTTY) child.kill('SIGINT');
});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

// npm starts a shell, and the shell this. Either may be killed, or end of a signal that it does not pass on (SIGHUP).
const WATCH_INTERVAL_MS = 250;
if (process.env.npm_lifecycle_event) {
  const watched = [parent, npmAbove(parent)].filter(Boolean);
  const watch = setInterval(() => {
    if (watched.every(isAlive)) return;
    clearInterval(watch);
    // Windows knows no signals: there, the end of the channel has to do.
    if (isWindows && child.connected) child.disconnect();
    else child.kill('SIGTERM');
  }, WATCH_INTERVAL_MS);
}

/** Returns the process id of npm, where the parent is the shell of an npm script and the system tells. */
function npmAbove(shell) {
  if (isWindows) return null;
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(shell)], { encoding: 'utf8' });
  const [, ppid] = /^\s*(\d+) .* -c .*run\.mjs/.exec(stdout ?? '') ?? [];
  return ppid ? Number(ppid) : null;
}

function isAlive(pid) {
  // Somebody else's process may have the id by now: a parent that is gone is no parent any more.
  if (pid === parent && !isWindows) return process.ppid === parent;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
