import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { baseImage, callOnce, composeProject, withoutCompose } from './compose-project.ts';

// The proxy of docker/compose.yaml, with small servers in place of the APIs. docker/proxy/start.sh takes one
// way with nginx 1.27.3 and later, and another with older ones. So these tests run with the image of the
// Compose file, and with that of TEST_NGINX_IMAGE.

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const IMAGES = ['nginx:1', process.env['TEST_NGINX_IMAGE']].filter(Boolean) as string[];

/** Whether this version of nginx looks up the addresses of upstream servers while it runs. */
function looksUp(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major * 1e6 + minor * 1e3 + patch >= 1_027_003;
}

describe.skipIf(withoutCompose !== '').each(IMAGES)(`the proxy with %s${withoutCompose}`, (image) => {
  const project = composeProject({ PROXY_IMAGE: image }, [pathOf('compose-proxy.yaml')]);
  const { compose, run, containersOf, inspect } = project;
  let url: string;

  const scale = (apis: number) => compose('up', '-d', '--no-deps', '--scale', `api=${apis}`, 'api', 'proxy');

  const eachAnswers = async () => {
    const awaited = new Set(await inspect(await containersOf('api'), '{{.Config.Hostname}}'));
    await waitUntil('each API answers', async () => {
      awaited.delete((await callOnce(url)).text);
      return awaited.size === 0;
    });
  };

  /** Returns how often the API has logged the word. */
  const countLogged = async (api: string, word: string) =>
    (await run('docker', 'logs', api)).split(word).length - 1;

  /** Returns how many calls of /held each API has got. */
  async function heldBy(): Promise<Record<string, number>> {
    const counts = (await containersOf('api')).map(
      async (api) => [api, await countLogged(api, 'holding')] as const,
    );
    return Object.fromEntries(await Promise.all(counts));
  }

  /** Calls the proxy all the time while `work` runs. Returns all answers other than 200. */
  async function failuresDuring(work: () => Promise<unknown>): Promise<string[]> {
    const over = new AbortController();
    const failures: string[] = [];
    const callAll = async () => {
      while (!over.signal.aborted) {
        const { status, text } = await callOnce(url);
        if (status !== 200) failures.push(`${status} ${text.slice(0, 100)}`);
      }
    };
    const calling = Promise.all(Array.from({ length: 4 }, callAll));
    await work().finally(() => over.abort());
    await calling;
    return failures;
  }

  beforeAll(async () => {
    project.env['FLOODGATE_IMAGE'] = await baseImage();
    const port = await findFreePort();
    project.env['API_PORT'] = `127.0.0.1:${port}`;
    url = `http://127.0.0.1:${port}`;
    await scale(1);
    await eachAnswers();
  });

  afterAll(() => project.remove());

  test('looks up the addresses itself, if this version of nginx can', async () => {
    const [, version] = /nginx\/(\S+)/.exec(
      await compose('exec', '-T', 'proxy', 'sh', '-c', 'nginx -v 2>&1'),
    )!;
    const servers = await compose('exec', '-T', 'proxy', 'cat', '/tmp/servers.conf');
    expect({ version, looksUp: servers.includes(' resolve;') }).toEqual({
      version,
      looksUp: looksUp(version!),
    });
  });

  test('finds each API that is added, forgets those that are removed, and no call fails', async () => {
    const failures = await failuresDuring(async () => {
      for (const apis of [3, 1, 2]) {
        await scale(apis);
        expect(await containersOf('api')).toHaveLength(apis);
        await eachAnswers();
      }
    });
    expect(failures).toEqual([]);
  });

  test('uses an API that has just started when the other one ends', async () => {
    await scale(2);
    await eachAnswers();
    let [running, away] = (await containersOf('api')) as [string, string];
    const toggle = (api: string) => run('docker', 'kill', '--signal', 'HUP', api);
    const start = async (api: string) => {
      const before = await countLogged(api, 'listening');
      await toggle(api);
      await waitUntil('it listens', async () => (await countLogged(api, 'listening')) > before);
    };
    const statuses: number[] = [];
    const call = async (method: string) => statuses.push((await callOnce(url, { method })).status);
    await toggle(away);
    for (let turn = 0; turn < 6; turn += 1) {
      // nginx notices three times that one API does not run, and takes it for failed for a second.
      for (let calls = 0; calls < 8; calls += 1) await call('GET');
      await start(away);
      await toggle(running);
      [running, away] = [away, running];
      await call('POST');
      await call('GET');
    }
    await start(away);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('repeats a read if its API is killed and its address is gone', async () => {
    await scale(3);
    await eachAnswers();
    const failures = await failuresDuring(async () => {
      await run('docker', 'rm', '--force', ...(await containersOf('api')).slice(1));
      await scale(2);
      await eachAnswers();
    });
    expect(failures).toEqual([]);
  });

  test('repeats a call with a key when its API ends, and no other that was sent', async () => {
    const post = async (headers: Record<string, string>) => {
      await scale(2);
      await eachAnswers();
      const before = await heldBy();
      const answer = callOnce(`${url}/held`, { method: 'POST', headers, body: 'a registration' });
      const holder = await waitUntil('an API holds the call', async () => {
        const now = await heldBy();
        return Object.keys(now).find((api) => now[api] !== before[api]);
      });
      // nginx tries no other API by itself if the addresses have changed since.
      await scale(3);
      await eachAnswers();
      const counts = await heldBy();
      await run('docker', 'kill', holder);
      return { answer, counts, others: Object.keys(counts).filter((api) => api !== holder) };
    };
    const keyed = await post({ 'idempotency-key': 'one' });
    await waitUntil('another API holds the call', async () => {
      const now = await heldBy();
      return keyed.others.some((api) => now[api] !== keyed.counts[api]);
    });
    await run('docker', 'kill', '--signal', 'USR2', ...keyed.others);
    expect((await keyed.answer).status).toBe(200);

    const unkeyed = await post({});
    expect((await unkeyed.answer).status).toBe(502);
    expect(await heldBy()).toEqual(unkeyed.counts);
  });

  test('answers 502 or 504 while there is no API, and finds the next one', async () => {
    await compose('rm', '--stop', '--force', 'api');
    // 504 if nginx still knows an address, where nobody answers.
    expect([502, 504]).toContain((await callOnce(url)).status);
    await scale(1);
    await eachAnswers();
  });

  test('answers what it has accepted when it is stopped, and ends in order', async () => {
    await compose('rm', '--stop', '--force', 'api');
    await scale(1);
    await eachAnswers();
    const [proxy] = await containersOf('proxy');
    const held = callOnce(`${url}/held`);
    const api = await waitUntil(
      'the call has reached the API',
      async () => Object.entries(await heldBy()).find(([, count]) => count > 0)?.[0],
    );
    const stopping = compose('stop', 'proxy');
    await waitUntil('the proxy accepts no more calls', async () => (await callOnce(url)).status === 0);
    await run('docker', 'kill', '--signal', 'USR2', api);
    expect(await held).toMatchObject({ status: 200 });
    await stopping;
    expect(await inspect([proxy!], '{{.State.ExitCode}}')).toEqual(['0']);
  });
});
