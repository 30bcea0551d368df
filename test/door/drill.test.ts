import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { DoorDevice, type Scan } from '../harness/door-device.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli } from '../harness/service-process.ts';
import { shownPage, textOf } from '../harness/shown-page.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

// The drill of apps/docs/operate/doors.md, with its commands. The event, the gates and the devices get the
// ids that the page shows.

const page = readFileSync(new URL('../../apps/docs/operate/doors.md', import.meta.url), 'utf8');
const [EVENT, TICKET, MAIN_ENTRANCE, LOUNGE] = [1001, 1, 1, 2];
const OFFLINE: Partial<Scan> = { decision: 'admitted' };

interface Report {
  complete: boolean;
  open: string[];
  except: string[];
  conflicts: { passReference: string; first: { device: string }; again: { device: string } }[];
}

let api: InProcessApi;
let gala: Fixture;
let cookie: string;

test.beforeAll(async () => {
  api = await startInProcessApi({ DATABASE_URL: given.database.url });
  gala = await createFixture(given.database.db);
  await gala.addTicket();
  await gala.addTicket({ title: 'VIP' });
  ({ cookie } = await given.addOperator('viewer'));
});
test.afterAll(() => api.close());

/** Runs the commands below a heading of the page. Resolves to what each prints, and its exit code. */
async function follow(heading: string) {
  const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const printed = [];
  for (const [, line] of section.matchAll(/^npm run floodgate -- (.+?)(?: +#.*)?$/gm)) {
    const args = Array.from(line!.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word!);
    printed.push(await runCli({ DATABASE_URL: given.database.url }, ...args));
  }
  return printed;
}

/** Registers somebody. Resolves to the pass and its reference. */
async function sell() {
  const partner = new PartnerClient(api.baseUrl, gala);
  const reference = (await partner.register(attendee(TICKET))).body.responseData as string;
  await finalizePending(given.database.db, gala.shardId);
  const { pass } = (await partner.pass(reference)).body.responseData as { pass: string };
  return { reference, pass };
}

/** Enrols a device with the code that the command has printed. */
async function enrol(printed: string): Promise<DoorDevice> {
  const device = new DoorDevice(api.baseUrl);
  const { body } = await device.enrol(/code +(\S+)/.exec(printed)![1]!);
  expect(body.responseCode).toBe('00');
  return device;
}

/** Returns what the console says in place of a line of the report: it needs no ids of devices. */
const onPageOf = (line: string) =>
  line
    .replace(/^device \d+ \((.*?)\)/, '$1')
    .replace('has not signed off', 'has not ended its shift')
    .replace('is revoked', 'is out of service');

/** Resolves to the report and the exit code. The text, the JSON and the pages of the console say the same. */
async function readReport(): Promise<Report & { code: number }> {
  const [text, json] = await follow('The report');
  const { code } = text!;
  expect(json!.code).toBe(code);
  const report = JSON.parse(json!.output.slice(0, json!.output.lastIndexOf('}') + 1)) as Report;
  const passes = report.conflicts.map(({ passReference }) => passReference);
  const remarks = [...report.open, ...report.except];
  for (const line of [...remarks, ...passes]) expect(text!.output).toContain(line);
  const verdict = report.complete ? 'complete' : 'not complete';
  expect(text!.output).toContain(`Gala: the list of scans is ${verdict}\n`);
  const onPages = [
    ...remarks.map(onPageOf),
    // A viewer sees no codes of pass references.
    ...passes.map((pass) => pass.replace(/\d{10}$/, '…')),
    report.complete ? 'Every scan of every scanner has arrived.' : 'The list of scans is not complete:',
  ];
  let missing: string[] = onPages;
  // On a slow machine, pages show what was true a moment ago.
  await waitUntil('the pages say the same', async () => {
    const pages = ['door/devices', 'door/conflicts'].map((path) =>
      shownPage(() => given.request(`/events/${EVENT}/${path}`, { headers: { cookie } })),
    );
    const shown = textOf((await Promise.all(pages)).join(' '));
    missing = onPages.filter((line) => !shown.includes(line));
    return missing.length === 0;
  }).catch((error: unknown) => {
    throw new Error(`no page says: ${missing.join('; ')}`, { cause: error });
  });
  return { ...report, code };
}

test('an evening at the door, from the plan to the report', async () => {
  const gates = await follow('Plan the gates');
  expect(gates.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(gates[2]!.output).toMatch(/Main entrance[\s\S]*VIP lounge/);
  const devices = await follow('Add the devices');
  expect(devices.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const [one, two, three] = await Promise.all(devices.slice(0, 3).map(({ output }) => enrol(output)));
  expect(await readReport()).toMatchObject({ code: 1, complete: false, conflicts: [] });

  const [online, twice] = [await sell(), await sell()];
  expect((await one!.scan(online.pass, MAIN_ENTRANCE)).outcome).toBe('admitted');
  expect(await two!.scan(online.pass, MAIN_ENTRANCE)).toMatchObject({
    outcome: 'already-admitted',
    first: { gate: 'Main entrance', device: 'Scanner 1' },
  });
  expect((await one!.scan(online.pass, LOUNGE)).outcome).toBe('wrong-gate');

  // The network fails: two devices let the same pass in.
  for (const device of [one!, two!]) device.append(twice.pass, MAIN_ENTRANCE, OFFLINE);
  await two!.state();
  expect((await readReport()).open).toContain('device 4 (Scanner 2): scans 2 are missing');
  await two!.upload();
  await one!.upload();
  for (const device of [one!, two!, three!]) await device.signOff();
  const { conflicts, ...complete } = await readReport();
  expect(complete).toMatchObject({ code: 0, complete: true, open: [], except: [] });
  expect(conflicts.map(({ passReference }) => passReference)).toEqual([twice.reference]);
  const sides = conflicts.flatMap(({ first, again }) => [first.device, again.device]);
  expect(sides.toSorted()).toEqual(['Scanner 1', 'Scanner 2']);

  // The next evening, a device is lost before its last scan arrives.
  await three!.scan((await sell()).pass, MAIN_ENTRANCE);
  three!.append((await sell()).pass, MAIN_ENTRANCE, OFFLINE);
  const [revoked] = await follow('A lost device');
  expect(revoked).toMatchObject({ code: 0, output: 'device 5 is lost\n' });
  expect((await three!.upload()).status).toBe(410);
  expect(await readReport()).toMatchObject({
    code: 1,
    open: [],
    except: ['device 5 (Scanner 3) is lost: scans after 1 are not known'],
  });
});
