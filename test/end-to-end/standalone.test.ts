import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { ping } from '@floodgate/database';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { findFreePort } from '../harness/free-port.ts';
import { createTestDatabase } from '../harness/database.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startProcess, type Environment, type ServiceProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

interface Demo {
  baseUrl: string;
  secretKey: string;
  eventRef: string;
  tickets: { id: number; ticketTitle: string; capacity: number }[];
}

let directory: string;
let port: number;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'floodgate-e2e-'));
  port = await findFreePort();
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** npm start, as a stranger runs it, until it says where it listens. */
async function start(
  env: Environment = {},
): Promise<{ process: ServiceProcess; demo: Demo; client: PartnerClient }> {
  const process = startProcess('standalone', { DATA_DIR: directory, PORT: String(port), ...env });
  await waitUntil('Floodgate listens', () => {
    if (process.child.exitCode !== null) throw new Error(process.output());
    return process.output().includes('Ctrl-C');
  });
  const demo = JSON.parse(await readFile(path.join(directory, 'demo.json'), 'utf8')) as Demo;
  return { process, demo, client: new PartnerClient(demo.baseUrl, demo) };
}

async function registerAndConfirm(client: PartnerClient, ticketId: number): Promise<string> {
  const { body } = await client.register(attendee(ticketId));
  expect(body.responseCode).toBe('00');
  const passReference = String(body.responseData);
  await waitUntil('the worker has confirmed it', async () => {
    const { body: status } = await client.registration(passReference);
    return (status.responseData as { state: string }).state === 'confirmed';
  });
  return passReference;
}

async function connectAsOwner() {
  const connection = parseEnv(await readFile(path.join(directory, 'connection.env'), 'utf8'));
  const connectionString = connection['DATABASE_URL']!;
  return connectInTest(connectionString);
}

/** As whom API and worker are connected to the embedded Postgres. */
async function usersConnected(): Promise<string[]> {
  const db = await connectAsOwner();
  const { rows } = await sql<{ usename: string }>`
    select distinct usename from pg_stat_activity where application_name ~ '^floodgate-(api|worker)' order by 1`.execute(
    db,
  );
  await db.destroy();
  return rows.map(({ usename }) => usename);
}

async function shownAtDocs({ baseUrl }: Demo): Promise<string> {
  const page = await fetch(`${baseUrl}/docs`);
  return page.text();
}

const SERVICES = { api: 'API', worker: 'worker', delivery: 'delivery process', console: 'console' };

/** The processes below one, with their commands. */
function processesBelow(pid: number): { pid: number; command: string }[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const all = Array.from(listed.matchAll(/^ *(\d+) +(\d+) (.*)$/gm), ([, id, parent, command]) => {
    return { pid: Number(id), parent: Number(parent), command: command! };
  });
  const below = (of: number): typeof all =>
    all.filter(({ parent }) => parent === of).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

/** The addresses and ports at which a process listens for TCP, as in /proc: hexadecimal, in the order of the machine. */
async function listeningAt(pid: number): Promise<string[]> {
  const open = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')),
  );
  const LISTEN = '0A';
  return tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/ +/)))
    .filter((fields) => fields[3] === LISTEN && links.includes(`socket:[${fields[9]}]`))
    .map((fields) => fields[1]!);
}

const LOOPBACK = /^(0100007F|0{24}01000000):/;

describe('npm start', () => {
  test.skipIf(process.platform !== 'linux')('listens on this machine only', async () => {
    const { process: floodgate } = await start();
    await waitUntil('worker, delivery process and console listen', async () => {
      const services = processesBelow(floodgate.child.pid!).filter(({ command }) =>
        /apps\/\w+\/src/.test(command),
      );
      const sockets = await Promise.all(services.map(({ pid }) => listeningAt(pid)));
      return services.length === 4 && sockets.every((of) => of.length > 0);
    });
    const all = [
      { pid: floodgate.child.pid!, command: 'npm start' },
      ...processesBelow(floodgate.child.pid!),
    ];
    const sockets: [command: string, at: string][] = [];
    for (const { pid, command } of all)
      for (const at of await listeningAt(pid).catch(() => [])) sockets.push([command, at]);
    // Postgres, API, worker, delivery process and console.
    expect(sockets.length).toBeGreaterThanOrEqual(5);
    expect(sockets.filter(([, at]) => !LOOPBACK.test(at))).toEqual([]);
    expect(await floodgate.end()).toBe(0);
  });

  test('starts each service that is killed again, and says so', async () => {
    const { process: floodgate, demo, client } = await start();
    const pidOf = (service: string) =>
      processesBelow(floodgate.child.pid!).find(({ command }) =>
        command.endsWith(`apps/${service}/src/main.ts`),
      )?.pid;
    for (const [service, name] of Object.entries(SERVICES)) {
      const killed = await waitUntil(`${name} runs`, () => pidOf(service));
      process.kill(killed, 'SIGKILL');
      await waitUntil(`${name} is named`, () =>
        floodgate.output().includes(`The ${name} stopped unexpectedly (SIGKILL). It starts again in 0.5 s.`),
      );
      await waitUntil(`${name} runs again`, () => {
        const pid = pidOf(service);
        return pid !== undefined && pid !== killed;
      });
    }
    const consoleUrl = /Console +(\S+)/.exec(floodgate.output())![1]!;
    const mailUrl = /E-mails +(\S+)/.exec(floodgate.output())![1]!;
    for (const url of [`${demo.baseUrl}/health/ready`, `${consoleUrl}/health/ready`, mailUrl])
      await waitUntil(
        `${url} answers`,
        async () => (await fetch(url).catch(() => undefined))?.status === 200,
      );
    await registerAndConfirm(client, demo.tickets[0]!.id);
    expect(await floodgate.end()).toBe(0);
  });

  test('shows the key and the e-mails of the demo only by names of this machine', async () => {
    const { process: floodgate, demo } = await start();
    const mailUrl = /E-mails +(\S+)/.exec(floodgate.output())![1]!;
    const read = async (url: string, host: string) => {
      const { hostname, port: at, pathname } = new URL(url);
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ hostname, port: at, path: pathname, headers: { host } }, resolve).on('error', reject);
      });
      return { status: answer.statusCode, text: await text(answer) };
    };
    await waitUntil('the mailcatcher answers', () =>
      fetch(mailUrl).then(
        () => true,
        () => false,
      ),
    );
    for (const host of ['localhost', '127.0.0.1:3000', '[::1]:80', 'demo.localhost']) {
      expect((await read(`${demo.baseUrl}/docs`, host)).text).toContain(demo.secretKey);
      expect((await read(mailUrl, host)).status).toBe(200);
    }
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example:3000',
      'floodgate',
    ]) {
      expect((await read(`${demo.baseUrl}/docs`, host)).text).not.toContain(demo.secretKey);
      expect((await read(mailUrl, host)).status).toBe(421);
    }
    expect(await floodgate.end()).toBe(0);
  });

  test('gives a pass reference that a worker confirms, prints commands that work, and keeps it all over a restart', async () => {
    const first = await start();
    // A test key, so that addresses provoke answers.
    expect(first.demo.secretKey).toMatch(/^fg_test_/);
    const provoking = attendee(first.demo.tickets[0]!.id, { emailAddress: 'code-33@floodgate.invalid' });
    expect((await first.client.register(provoking)).body.responseCode).toBe('33');
    expect(first.demo.tickets.map(({ capacity }) => capacity)).toEqual([1_000_000, 5, 2, 1_000, 1_000]);
    const passReference = await registerAndConfirm(first.client, first.demo.tickets[0]!.id);

    expect(await shownAtDocs(first.demo)).toContain(first.demo.secretKey);

    const printed = first.process.output();
    const lines = [
      ...(printed.match(/^export .*$/gm) ?? []),
      /curl -s [^ ]*\/register"[^]*?-d '[^']*'/.exec(printed)?.[0],
    ];
    const pasted = spawn('sh', ['-c', lines.join('\n')]);
    const [answer] = (await once(pasted.stdout, 'data')) as [Buffer];
    expect(JSON.parse(String(answer))).toMatchObject({ responseCode: '00', responseMessage: 'Successful' });
    expect(await usersConnected()).toEqual(['floodgate_api', 'floodgate_worker']);
    const file = path.join(directory, 'connection.env');
    expect(first.process.output()).toContain(`set -a; . '${file}'; set +a; npm run floodgate`);
    expect(await first.process.end('SIGINT')).toBe(0);
    expect(first.process.output()).toMatch(/stopped\n$/);

    const second = await start();
    expect(second.demo).toEqual(first.demo);
    const { body } = await second.client.registration(passReference);
    expect(body.responseData).toMatchObject({ passReference, state: 'confirmed' });
    expect(await second.process.end('SIGTERM')).toBe(0);
  });

  test('goes on with a store from before, whose key and event are live', async () => {
    const { process, demo } = await start();
    const db = await connectAsOwner();
    for (const table of ['secret_keys', 'events'])
      await sql`update ${sql.table(table)} set mode = 'live'`.execute(db);
    await db.destroy();
    expect(await process.end('SIGTERM')).toBe(0);
    const before = { ...demo, secretKey: demo.secretKey.replace('fg_test_', 'fg_') };
    await writeFile(path.join(directory, 'demo.json'), JSON.stringify(before));
    const again = await start();
    expect(again.demo).toEqual(before);
    expect(await shownAtDocs(before)).not.toContain(before.secretKey);
    await registerAndConfirm(again.client, demo.tickets[0]!.id);
    expect(await again.process.end('SIGTERM')).toBe(0);
  });

  test('answers for the inactive ticket, the one not yet on sale, the one that sells out and the one with a waiting list', async () => {
    const { process, demo, client } = await start();
    const [, small, soldOut, inactive, future] = demo.tickets;
    const codes: string[] = [];
    for (let seat = 0; seat < 6; seat++)
      codes.push((await client.register(attendee(small!.id))).body.responseCode);
    expect(codes).toEqual(['00', '00', '00', '00', '00', '32']);
    expect((await client.register(attendee(inactive!.id))).body.responseCode).toBe('31');
    expect((await client.register(attendee(future!.id))).body.responseCode).toBe('31');
    const joined = await client.post('/waiting-list', {
      organizedEventTicketID: soldOut!.id,
      contact: { fullName: 'Jane Doe', emailAddress: 'jane@example.com' },
    });
    expect(joined.body).toMatchObject({ responseCode: '00', responseData: { state: 'waiting' } });
    const listed = (await client.tickets()).body.responseData as { id: number }[];
    expect(listed.map(({ id }) => id)).toEqual([demo.tickets[0]!.id]);
    expect(await process.end()).toBe(0);
  });

  test('uses a Redis where QUEUE_URL names one', async (context) => {
    const redisUrl = inject('redisUrl') ?? context.skip(inject('redisReason'));
    const { process, demo, client } = await start({ QUEUE_URL: redisUrl, QUEUE_NAMESPACE: `e2e_${port}` });
    await registerAndConfirm(client, demo.tickets[0]!.id);
    expect(await process.end()).toBe(0);
  });

  test('writes a password with a quote into connection.env so that a shell reads it, and others too', async () => {
    const database = await createTestDatabase();
    await sql`create role floodgate_test_quoted superuser login password 'it''s $HOME'`.execute(database.db);
    const url = database.url.replace(/\/\/[^@]*@/, "//floodgate_test_quoted:it's%20$HOME@");
    const { process } = await start({ DATABASE_URL: url });
    const file = path.join(directory, 'connection.env');
    const args = ['-c', '. "$1" && printf %s "$DATABASE_URL"', 'sh', file];
    const sourced = execFileSync('sh', args, { encoding: 'utf8' });
    expect(parseEnv(await readFile(file, 'utf8'))['DATABASE_URL']).toBe(sourced);
    const db = connectInTest(sourced);
    expect(await ping(db)).toBe(true);
    await db.destroy();
    expect(await process.end()).toBe(0);
    await sql`drop role floodgate_test_quoted`.execute(database.db);
    await database.drop();
  });

  test('says in one line that the port is in use', async () => {
    const rival = createServer().listen(port, '127.0.0.1');
    await once(rival, 'listening');
    const process = startProcess('standalone', { DATA_DIR: directory, PORT: String(port) });
    expect(await process.exited).toBe(1);
    expect(process.output().trim().split('\n')).toHaveLength(1);
    expect(process.output()).toContain(`port ${port} is already in use`);
    rival.close();
  });
});
