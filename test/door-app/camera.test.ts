import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { chromium } from '../harness/browser.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { MARK_BITS, MARK_PIXELS, VIEW_NAMES, writeDistortedCodes, writeTwoCodes } from './distorted-video.ts';
import { Scanner } from './scanner.ts';
import { sell } from './sell.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

const CODES = 100;
const LEAST_READ = 95;

test.override('ticket', { capacity: 1_000 });

/** Records when each frame of the video is shown, and when the result of its code is shown. */
const RECORD_TIMES = `
  globalThis.shownMs = {}; globalThis.resultMs = {}; globalThis.frame = -1;
  const canvas = new OffscreenCanvas(${MARK_BITS * MARK_PIXELS}, ${MARK_PIXELS});
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const look = (now) => {
    context.drawImage(video, 0, 0);
    let number = 0;
    for (let bit = 0; bit < ${MARK_BITS}; bit += 1) {
      const x = (bit + 0.5) * ${MARK_PIXELS};
      if (context.getImageData(x, ${MARK_PIXELS / 2}, 1, 1).data[0] > 128) number += 1 << bit;
    }
    frame = number;
    shownMs[number] ??= now;
    video.requestVideoFrameCallback(look);
  };
  video.requestVideoFrameCallback(look);
  new MutationObserver(() => { resultMs[frame] ??= performance.now(); }).observe(result, { childList: true, subtree: true });
`;

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the camera', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => directory[Symbol.asyncDispose]());

  const openWith = (video: string) =>
    Scanner.open(
      given.api.baseUrl,
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-video-capture=${video}`,
    );

  test(`of ${CODES} codes that are dim, tilted, noisy, blurred or on a screen, it reads ${LEAST_READ}`, async () => {
    const passes: string[] = [];
    while (passes.length < CODES) passes.push((await sell(given)).pass);
    const video = directory.file('codes.y4m');
    await writeDistortedCodes(video, passes);
    const gate = await addGate(given.database.db, given.gala.eventId);
    const { code, id } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    const scanner = await openWith(video);
    await scanner.enrol(code);
    await scanner.click('#camera-switch');
    await waitUntil('the camera runs', () => scanner.evaluate<boolean>('video.videoWidth > 0'));
    await scanner.evaluate(RECORD_TIMES);
    const admitted = async () => {
      const { rows } = await sql`select from scans where device_id = ${id} and outcome = 'admitted'`.execute(
        given.database.db,
      );
      return rows.length;
    };
    const isRepeated = () => scanner.evaluate<boolean>(`Object.keys(shownMs).length === ${CODES}`);
    await waitUntil('each code was shown', isRepeated);
    await scanner.picture('camera');
    await scanner.report(VIEW_NAMES);
    expect(await admitted()).toBeGreaterThanOrEqual(LEAST_READ);
    await scanner.close();
  });

  test.for(['left', 'right'] as const)(
    'of two codes in view, it reads the pass, on the %s; and it starts again when the system took it away',
    async (side) => {
      const { pass } = await sell(given);
      const video = directory.file(`two-${side}.y4m`);
      const sponsor = 'https://example.com/win?campaign=summer';
      await writeTwoCodes(video, side === 'left' ? [pass, sponsor] : [sponsor, pass]);
      const gate = await addGate(given.database.db, given.gala.eventId);
      const { code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
      const scanner = await openWith(video);
      await scanner.enrol(code);
      await scanner.click('#camera-switch');
      await scanner.shows('#result', 'Admitted');
      const track = 'document.querySelector("#video").srcObject?.getVideoTracks()[0]';
      for (const event of ['ended', 'mute']) {
        await scanner.evaluate(`globalThis.old = ${track}; old.dispatchEvent(new Event('${event}'))`);
        await waitUntil('another camera runs', () =>
          scanner.evaluate<boolean>(
            `Boolean(${track}) && ${track} !== old && ${track}.readyState === 'live'`,
          ),
        );
      }
      await scanner.evaluate(
        `navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error('in use')); ${track}.dispatchEvent(new Event('ended'))`,
      );
      await scanner.shows('#notice', 'The camera stopped. Press Camera to start it again.');
      expect(await scanner.evaluate<string>("document.querySelector('#camera-switch').ariaPressed")).toBe(
        'false',
      );
      await scanner.close();
    },
  );
});
