import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Contender } from './contender.ts';

/** The ceiling over HTTP: a Fastify route that validates the same requests and stores nothing. */
export const emptyRoute: Contender = {
  name: 'empty-route',
  description: 'ceiling: a Fastify route that validates the same request, answers at once and stores nothing',
  start: async () => {
    const entry = fileURLToPath(new URL('empty-route-main.ts', import.meta.url));
    const child = spawn(process.execPath, [entry], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    const baseUrl = await waitUntil('the empty route listens', () => {
      if (child.exitCode !== null) throw new Error(`the empty route ended with ${child.exitCode}`);
      return /at (http:\S+)/.exec(output)?.[1];
    });
    return {
      baseUrl,
      pids: { api: child.pid! },
      stop: async () => {
        child.kill();
        await exited;
      },
    };
  },
};
