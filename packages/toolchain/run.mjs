// Runs a file of this workspace on the pinned Node.js, after installing what is missing.
//
//   node packages/toolchain/run.mjs <file> [arguments…]
//
// This is the one file that the machine's own Node.js (18 or newer) executes, so it is plain
// JavaScript and has no dependencies.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const isWindows = process.platform === 'win32';
const pinnedNode = path.join(root, 'node_modules/node/bin', isWindows ? 'node.exe' : 'node');

const state = path.join(root, 'node_modules/.modules.yaml');

/** The state file is touched after every install, so whatever is newer was never installed. */
function isInstalled() {
  if (!existsSync(state) || !existsSync(pinnedNode)) return false;
  return ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].every(
    (file) => statSync(path.join(root, file)).mtimeMs <= statSync(state).mtimeMs,
  );
}

function install() {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  process.stderr.write('floodgate: installing dependencies (once)\n');
  // CI=true: never ask, never leave the lockfile changed.
  const { status } = spawnSync('npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], {
    cwd: root,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (status !== 0 || !existsSync(pinnedNode)) {
    process.stderr.write('floodgate: installing the dependencies failed; see the messages above\n');
    process.exit(1);
  }
  // pnpm leaves it alone where nothing had to be done.
  utimesSync(state, new Date(), new Date());
}

if (!isInstalled()) install();

// Left alone, V8 lets a heap grow to several times of what is alive before it collects, and glibc keeps a pool of memory
// per thread: cheap on a machine of its own, expensive in many small containers. Under load these settings halve an API's
// memory. The API's new space is just large enough that the requests of a few hundred connections, which wait together
// for their commit, are not copied into the old one; and its collector marks with one thread beside the main one, where
// V8 would start one for each core and take their time from everything else. The first lines of the apps' main.ts say the
// same, for those who run them directly.
const SMALL_PROCESS = JSON.parse(
  readFileSync(path.join(root, 'packages/toolchain/small-process.json'), 'utf8'),
);

const [file, ...args] = process.argv.slice(2);
// The first folder that fits; what lies elsewhere runs as Node.js does by itself. `npm start` hands its flags on to the
// API and the worker that it starts.
const folder = Object.keys(SMALL_PROCESS.flags).find((one) => file.startsWith(`${one}/`));
const flags = folder ? SMALL_PROCESS.flags[folder] : [];
const env = folder ? SMALL_PROCESS.env : {};
const child = spawn(pinnedNode, [...flags, path.resolve(root, file), ...args], {
  stdio: 'inherit',
  env: {
    ...env,
    ...process.env,
    // Spares every further start the stripping and compiling, and the processes the memory for it.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || path.join(root, 'node_modules/.cache/node-compile'),
    PATH: `${path.dirname(pinnedNode)}${path.delimiter}${process.env.PATH}`,
  },
});
// A terminal's Ctrl-C reaches the child as well; this process only has to outlive it. A signal
// that was sent to this process alone (npm forwards them) is passed on.
process.on('SIGINT', () => {
  if (!process.stdin.isTTY) child.kill('SIGINT');
});
process.on('SIGTERM', () => child.kill('SIGTERM'));
process.on('SIGHUP', () => child.kill('SIGHUP'));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
