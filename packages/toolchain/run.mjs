// node packages/toolchain/run.mjs <file> [arguments…] installs missing dependencies and runs a file of this
// workspace on the pinned Node.js. This file is plain JavaScript without dependencies, because the machine's
// own Node.js (18 or newer) executes it.
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
const node = path.join(root, 'node_modules/node/bin', isWindows ? 'node.exe' : 'node');

const [file, ...args] = process.argv.slice(2);

// Under load these flags halve an API's memory. Reasons: apps/docs/notes/measurements.md.
const small = JSON.parse(read('packages/toolchain/small-process.json'));
/** Folders of the production apps. Their dependencies need a third of the disk space of a complete installation. */
const SERVICES = Object.keys(small.flags);
/** The app of the file. Other files run without special flags. */
const service = SERVICES.find((folder) => file.startsWith(`${folder}/`));

/** The last installation: a hash of its input files, and its extent: everything or services. */
const state = path.join(root, 'node_modules/.floodgate-installed');
const [installedHash, installed = 'everything'] = existsSync(state)
  ? readFileSync(state, 'utf8').split(' ')
  : ['', 'nothing'];

// Without package.json: the lockfile also lists its dependencies, otherwise the installation fails.
const wantedHash = createHash('sha256')
  .update(read('pnpm-lock.yaml') + read('pnpm-workspace.yaml'))
  .digest('hex');
// A complete installation stays complete.
const wanted = service && installed !== 'everything' ? 'services' : 'everything';

if (!existsSync(node) || installedHash !== wantedHash || installed !== wanted) {
  const { packageManager } = JSON.parse(read('package.json'));
  const filters = ['floodgate', ...SERVICES.map((app) => `@floodgate/${path.basename(app)}...`)];
  const selection = wanted === 'services' ? ['--prod', ...filters.map((name) => `--filter=${name}`)] : [];
  process.stderr.write(`floodgate: installing dependencies (${wanted}, once)\n`);
  // CI=true: pnpm asks nothing and keeps the lockfile. --trust-lockfile: the committed lockfile was reviewed.
  // Otherwise pnpm requests the release date of every package, which takes longer than the installation.
  const install = ['install', '--frozen-lockfile', '--trust-lockfile', ...selection];
  const { status } = spawnSync('npx', ['--yes', packageManager, ...install], {
    cwd: root,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (status !== 0 || !existsSync(node)) {
    process.stderr.write('floodgate: installing the dependencies failed; see the messages above\n');
    process.exit(1);
  }
  // The headers are a third of Node.js's size and only needed to compile add-ons. No dependency compiles one.
  const binaries = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const headers = `node_modules/node/node_modules/${binaries}/include`;
  rmSync(path.join(root, headers), { recursive: true, force: true });
  writeFileSync(state, `${wantedHash} ${wanted}`);
}

// `npm start` passes its flags on to the services that it starts.
const flags = service ? [...small.everyFlags, ...small.flags[service]] : [];
const child = spawn(node, [...flags, path.resolve(root, file), ...args], {
  // The IPC channel closes if this process is killed, and the app stops.
  stdio: ['inherit', 'inherit', 'inherit', ...(service ? ['ipc'] : [])],
  env: {
    ...(service && small.env),
    ...process.env,
    // Further starts reuse compiled code, which saves time and memory.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || path.join(root, 'node_modules/.cache/node-compile'),
    PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
  },
});
// Forwards signals that only this process got: npm forwards SIGTERM and SIGINT. A terminal's Ctrl-C reaches
// the child as well. The apps ignore a second SIGINT, but other programs abort on it.
process.on('SIGINT', () => {
  if (service || !process.stdin.isTTY) child.kill('SIGINT');
});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

// npm starts a shell, and the shell starts this process. Either may end without forwarding a signal (SIGKILL, SIGHUP).
const WATCH_INTERVAL_MS = 1_000;
if (process.env.npm_lifecycle_event) {
  const watched = [parent, npmAbove(parent)].filter(Boolean);
  const watch = setInterval(() => {
    if (watched.every(isAlive)) return;
    clearInterval(watch);
    // Windows has no signals. There, the end of the channel stops the app.
    if (isWindows && child.connected) child.disconnect();
    else child.kill('SIGTERM');
  }, WATCH_INTERVAL_MS);
}

/** Returns npm's process id if the parent is the shell of an npm script, otherwise null. */
function npmAbove(shell) {
  if (isWindows) return null;
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(shell)], { encoding: 'utf8' });
  const [, ppid] = /^\s*(\d+) .* -c .*run\.mjs/.exec(stdout ?? '') ?? [];
  return ppid ? Number(ppid) : null;
}

function isAlive(pid) {
  // Another process may have reused the parent's id, so compare it with the current parent.
  if (pid === parent && !isWindows) return process.ppid === parent;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
