import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { findFreePort } from '../harness/free-port.ts';
import type { RunningService, Source } from './server.ts';

const SAFE = ['--maxmemory-policy', 'noeviction', '--save', '', '--appendonly', 'no'];

/** The official image, if Docker is available. */
export const redisContainer: Source = async () => {
  await getContainerRuntimeClient();
  const container = await new GenericContainer('redis:8')
    .withCommand(['redis-server', '--maxmemory-policy', 'noeviction'])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    origin: 'container redis:8',
    stop: async () => void (await container.stop()),
  };
};

/** Returns the name of the Redis server on the PATH, or undefined. */
export function redisServerCommand(): string | undefined {
  return ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);
}

export const localRedis: Source = async () => {
  if (!redisServerCommand()) throw new Error('no redis-server or valkey-server on the PATH');
  return startRedis(SAFE);
};

/** Starts a separate Redis on this machine, for tests that break or configure it. */
export async function startRedis(settings: readonly string[] = SAFE, port?: number): Promise<RedisProcess> {
  const command = redisServerCommand();
  if (!command) throw new Error('no redis-server or valkey-server on the PATH');
  const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-redis-'));
  const chosenPort = port ?? (await findFreePort());
  const child = spawn(command, ['--port', String(chosenPort), '--dir', directory, ...settings], {
    stdio: 'pipe',
  });
  const exited = once(child, 'exit');
  await waitForLine(child.stdout, /Ready to accept connections/);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  return {
    url: `redis://127.0.0.1:${chosenPort}`,
    port: chosenPort,
    pid: child.pid!,
    origin: `local ${command}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

export interface RedisProcess extends RunningService {
  port: number;
  pid: number;
  /** Kills it like a crash. Its data is lost. */
  kill(): Promise<void>;
}

async function waitForLine(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<void> {
  let seen = '';
  for await (const chunk of stream) {
    seen += String(chunk);
    if (pattern.test(seen)) {
      stream.resume();
      return;
    }
  }
  throw new Error(`the server ended: ${seen.slice(-500)}`);
}
