import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createThings, type ThingsOfEvent } from '../harness/things-of-event.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to keep a picture of every form. */
const PICTURES = process.env['CONSOLE_PICTURES'];

/** Forms of each look: parts, lists, boxes, choices, what destroys, what comes first. */
const FORMS = (things: ThingsOfEvent) => {
  const { eventId, ticketId, partnerId, webhookId, gateId, deviceId } = things;
  const passReference = encodeURIComponent(things.passReference);
  return {
    'event-create': '/do/eventCreate',
    'event-place': `/do/eventUpdate/place?eventId=${eventId}`,
    'event-cancellation': `/do/eventUpdate/cancellation?eventId=${eventId}`,
    'call-off': `/do/eventCallOff?eventId=${eventId}`,
    grant: `/do/eventGrant?eventId=${eventId}`,
    'ticket-price': `/do/ticketUpdate/price?ticketId=${ticketId}`,
    'ticket-stop': `/do/ticketUpdate/switch?ticketId=${ticketId}&active=false`,
    'ticket-first': '/do/ticketUpdate',
    allocation: `/do/ticketAllocate?ticketId=${ticketId}`,
    'partner-limit': `/do/partnerLimit?partnerId=${partnerId}`,
    'partner-disable': `/do/partnerDisable?partnerId=${partnerId}&disabled=true`,
    'webhook-create': `/do/webhookCreate?eventId=${eventId}&partnerId=${partnerId}`,
    'webhook-update': `/do/webhookUpdate?webhookId=${webhookId}`,
    'token-create': '/do/tokenCreate',
    'gate-update': `/do/gateUpdate?eventId=${eventId}&gateId=${gateId}`,
    'device-revoke': `/do/deviceRevoke?eventId=${eventId}&deviceId=${deviceId}`,
    'guest-import': `/do/guestImport?eventId=${eventId}`,
    'cancel-one': `/do/registrationCancel?passReference=${passReference}`,
    'cancel-preview': `/do/jobCancelPreview?eventId=${eventId}`,
  };
};

describe.skipIf(!chromium && !process.env['CI'])('forms in a browser', () => {
  let page: BrowserPage;
  let things: ThingsOfEvent;
  let owner: Awaited<ReturnType<typeof given.addOperator>>;

  test.beforeAll(async () => {
    things = await createThings(given.database);
    owner = await given.addOperator('owner');
    page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    await setCookie('floodgate_session', owner.session);
  });
  afterAll(() => page.close());

  const setCookie = (name: string, value: string) =>
    page.send('Network.setCookie', { url: given.consoleUrl, name, value });

  async function open(at: string) {
    const before = page.events('Page.loadEventFired').length;
    await page.send('Page.navigate', { url: `${given.consoleUrl}${at}` });
    await waitUntil('the page is loaded', () => page.events('Page.loadEventFired').length > before);
  }

  async function violations() {
    await page.evaluate(AXE);
    return page.evaluate<string[]>(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')))`);
  }

  async function picture(title: string) {
    if (!PICTURES) return;
    const { data } = await page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    await writeFile(path.join(PICTURES, `${title}.png`), String(data), 'base64');
  }

  async function look(width: number, scheme: string, language: string) {
    const size = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
    await page.send('Emulation.setDeviceMetricsOverride', size);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await page.send('Emulation.setEmulatedMedia', { features });
    await setCookie('floodgate_language', language);
  }

  test.for([
    [1280, 'light', 'en'],
    [390, 'dark', 'de'],
  ] as const)('are accessible, and fit at %i pixels, %s, %s', async ([width, scheme, language]) => {
    await look(width, scheme, language);
    const found: Record<string, string[]> = {};
    for (const [title, at] of Object.entries(FORMS(things))) {
      await open(at);
      const rules = await violations();
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (rules.length > 0 || isWide) found[title] = [...rules, ...(isWide ? ['wider than the screen'] : [])];
      await picture(`${title}-${width}-${scheme}-${language}`);
    }
    expect(found).toEqual({});
    const refused = page.events<{ entry: { text: string } }>('Log.entryAdded').map(({ entry }) => entry.text);
    expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  });

  test('put the focus on the first field that is wrong, and show the note and the undo after a change', async () => {
    await look(1280, 'light', 'en');
    const submit = async (script: string, shown: string) => {
      await page.evaluate(`${script}; document.querySelector('main form button').click()`);
      await waitUntil(`the page shows ${shown}`, () =>
        page.evaluate<boolean>(
          `document.readyState === 'complete' && document.body.innerText.includes('${shown}')`,
        ),
      );
    };
    await open(`/do/ticketUpdate/capacity?ticketId=${things.ticketId}&back=/events/${things.eventId}`);
    await submit(`document.querySelector('#capacity').value = '5.000'`, 'Not valid');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('capacity');
    expect(await violations()).toEqual([]);
    await picture('wrong');
    await submit(
      `document.querySelector('#capacity').value = '5000'`,
      'Done: Change the capacity of a ticket',
    );
    await picture('done');
    await submit('0', 'Done: Change a ticket');
  });
});
