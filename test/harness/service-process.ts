import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SERVICES, type ServiceName } from '@floodgate/database';
import SMALL_PROCESS from '../../packages/toolchain/small-process.json' with { type: 'json' };
import { findFreePort } from './free-port.ts';
import { assertNothingPrivate, keepPrivate } from './private-data.ts';
import { underTest } from './service-roles.ts';
import { waitUntil } from './wait-until.ts';

const ENTRY_POINTS = {
  api: new URL('../../apps/api/src/main.ts', import.meta.url),
  worker: new URL('../../apps/worker/src/main.ts', import.meta.url),
  delivery: new URL('../../apps/delivery/src/main.ts', import.meta.url),
  console: new URL('../../apps/console/src/main.ts', import.meta.url),
  cli: new URL('../../apps/cli/src/main.ts', import.meta.url),
  standalone: new URL('../../apps/standalone/src/main.ts', import.meta.url),
};

const FLAGS: Record<keyof typeof ENTRY_POINTS, string[]> = {
  api: SMALL_PROCESS.flags['apps/api'],
  worker: SMALL_PROCESS.flags['apps/worker'],
  delivery: SMALL_PROCESS.flags['apps/delivery'],
  console: SMALL_PROCESS.flags['apps/console'],
  cli: SMALL_PROCESS.flags['apps/cli'],
  standalone: SMALL_PROCESS.flags['apps/standalone'],
};

/** A process of an app. */
export interface ServiceProcess {
  child: ChildProcess;
  /** Returns its standard output and error so far. */
  output(): string;
  /** Sends the signal and waits for the end. Returns the exit code, or null if a signal ended the process. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Rejects if the output contains private data: see private-data.ts. */
  exited: Promise<number | null>;
}

export type Environment = Record<string, string>;

/** Starts an app with PATH and the given variables as its whole environment. */
export function startProcess(
  app: keyof typeof ENTRY_POINTS,
  env: Environment,
  args: readonly string[] = [],
): ServiceProcess {
  keepPasswordsPrivate(env);
  const child = spawn(
    process.execPath,
    [...SMALL_PROCESS.everyFlags, ...FLAGS[app], fileURLToPath(ENTRY_POINTS[app]), ...args],
    {
      env: {
        ...SMALL_PROCESS.env,
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        ...(isService(app) ? underTest(app, env) : env),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // Otherwise a test that fails between the start and the end of a process leaves it running.
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const exited = once(child, 'close').then(([code]) => {
    process.off('exit', killAtExit);
    assertNothingPrivate(`the output of the ${app}`, logOf(app, output));
    return code as number | null;
  });
  return {
    child,
    exited,
    output: () => output,
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}

const keepPasswordsPrivate = (env: Environment) =>
  keepPrivate(Object.values(env).map((value) => URL.parse(value)?.password));

const isService = (app: keyof typeof ENTRY_POINTS): app is ServiceName =>
  (SERVICES as readonly string[]).includes(app);

/** Returns the log lines of a process's output. The command and npm start also print texts for their user. */
function logOf(app: keyof typeof ENTRY_POINTS, output: string): string {
  if (isService(app)) return output;
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"level":'))
    .join('\n');
}

/** Starts an API process on a free port and waits until it listens. */
export async function startApiProcess(env: Environment): Promise<ServiceProcess & { baseUrl: string }> {
  const process = startProcess('api', { HOST: '127.0.0.1', PORT: '0', ...env });
  const baseUrl = await waitUntil('the API listens', () => {
    assertRunning(process);
    return /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(process.output())?.[1];
  });
  return { ...process, baseUrl };
}

/** Starts a worker process and waits until it works. */
export async function startWorkerProcess(env: Environment): Promise<ServiceProcess> {
  const process = startProcess('worker', { WORKER_HOST: '127.0.0.1', WORKER_PORT: '0', ...env });
  await waitUntil('the worker works', () => {
    assertRunning(process);
    return process.output().includes('"msg":"working"');
  });
  return process;
}

/** Starts a delivery process and waits until it delivers. Returns the base URL of its health, metrics and pages. */
export async function startDeliveryProcess(env: Environment): Promise<ServiceProcess & { baseUrl: string }> {
  const port = await findFreePort();
  const process = startProcess('delivery', {
    DELIVERY_HOST: '127.0.0.1',
    DELIVERY_PORT: String(port),
    ...env,
  });
  await waitUntil('deliveries go on', () => {
    assertRunning(process);
    return process.output().includes('"msg":"delivering"');
  });
  return { ...process, baseUrl: `http://127.0.0.1:${port}` };
}

/**
 * Runs the operator's command to its end in this process, because a process of its own takes a second of CPU.
 * The tests of the end of such a process use startProcess.
 */
export async function runCli(env: Environment, ...args: string[]): Promise<{ code: number; output: string }> {
  const { code, output } = await collectCli(env, args);
  return { code, output };
}

/** Runs the command with `--json` and resolves to the document, also of a command that then says what is wrong. */
export async function readCli(env: Environment, ...args: string[]): Promise<unknown> {
  const { printed } = await collectCli(env, [...args, '--json']);
  return JSON.parse(printed);
}

/** `printed`: what the command wrote to stdout. `output`: that and its failure. */
async function collectCli(env: Environment, args: readonly string[]) {
  // The start of a service does not load it.
  const program = await import('@floodgate/cli/program');
  keepPasswordsPrivate(env);
  let output = '';
  let printed = '';
  const stdout = { write: (text: string) => ((output += text), (printed += text)) };
  const stderr = { write: (text: string) => (output += text) };
  const code = await program.runCli(args, { env, stdout, stderr });
  assertNothingPrivate('the output of the cli', logOf('cli', output));
  return { code, output, printed };
}

function assertRunning({ child, output }: ServiceProcess): void {
  if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}: ${output()}`);
}
