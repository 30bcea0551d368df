import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request, type OutgoingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// Runs docker/compose.yaml with the real Docker.

const COMPOSE_FILE = fileURLToPath(new URL('../../docker/compose.yaml', import.meta.url));

export const DOCKERFILE = fileURLToPath(new URL('../../docker/Dockerfile', import.meta.url));

/** Returns the image of Node.js from which the image of Floodgate is built. */
export async function baseImage(): Promise<string> {
  const [, base] = /^FROM (\S+)$/m.exec(await readFile(DOCKERFILE, 'utf8'))!;
  return base!;
}

/** Only for containers that never start: a busy machine needs minutes. */
export const START_WITHIN_MS = 240_000;

const works = (command: readonly string[]) =>
  spawnSync(command[0]!, command.slice(1), { stdio: 'ignore', timeout: 60_000 }).status === 0;

const composeCommand = [['docker', 'compose'], ['docker-compose']].find((words) =>
  works([...words, 'version']),
);

/** The reason to skip tests for their title, or ''. */
export const withoutCompose = works(['docker', 'info'])
  ? composeCommand
    ? ''
    : ', skipped: there is no Docker Compose'
  : ', skipped: no Docker engine answers';

/** The words that each `docker build` of a test gets. */
export const buildArgs = process.env['DOCKER_BUILD_ARGS']?.split(' ').filter(Boolean) ?? [];

export type ComposeProject = ReturnType<typeof composeProject>;

/** Returns a project of the Compose file with a name of its own. The files are read after the Compose file. Starts nothing. */
export function composeProject(settings: NodeJS.ProcessEnv, files: readonly string[] = []) {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    COMPOSE_PROJECT_NAME: `floodgate-test-${randomBytes(4).toString('hex')}`,
    ...settings,
  };

  /** Runs a command to its end and returns its standard output. */
  async function run(file: string, ...args: string[]): Promise<string> {
    const running = promisify(execFile)(file, args, { env, maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end();
    const { stdout } = await running.catch((error: Error & { stdout: string }) => {
      throw new Error(`${error.message}\n${error.stdout.slice(-4_000)}`, { cause: error });
    });
    return stdout;
  }

  const composeFiles = [COMPOSE_FILE, ...files].flatMap((file) => ['-f', file]);
  const compose = (...args: string[]) =>
    run(composeCommand![0]!, ...composeCommand!.slice(1), ...composeFiles, ...args);

  return {
    env,
    run,
    compose,
    containersOf: async (...services: string[]) =>
      (await compose('ps', '-q', ...services)).trim().split('\n').filter(Boolean),
    inspect: async (containers: readonly string[], format: string) =>
      (await run('docker', 'inspect', '--format', format, ...containers)).trim().split('\n'),
    /** Removes all containers, networks and volumes. */
    remove: () => compose('--profile', 'monitoring', 'down', '--volumes', '--remove-orphans'),
  };
}

/** Sends a request on a connection of its own: a proxy may close an idle one at any moment. A failure of the connection is status 0. */
export function callOnce(
  url: string,
  { body, ...options }: { method?: string; headers?: OutgoingHttpHeaders; body?: string } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const sent = request(url, { ...options, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, text }));
      response.on('error', (error) => resolve({ status: 0, text: error.message }));
    });
    sent.on('error', (error) => resolve({ status: 0, text: error.message }));
    sent.end(body);
  });
}
