import { randomUUID } from 'node:crypto';
import { readAuditLog } from '@floodgate/audit';
import { findEvent } from '@floodgate/events';
import { reserveBatch } from '@floodgate/registrations';
import { findTicket } from '@floodgate/tickets';
import { describe, expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { formsIn, labelOf, textOf } from '../harness/html-forms.ts';
import { finalizePending } from '../harness/journal.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { reservationOf } from '../harness/reservation.ts';
import { createThings } from '../harness/things-of-event.ts';

const { test, given } = consoleTest();

const GERMAN = { 'accept-language': 'de' };

/** Returns what sends requests as an operator. */
async function signedIn(role: 'owner' | 'operator' | 'viewer' = 'owner') {
  const operator = await given.addOperator(role);
  const { cookie } = operator;
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await given.request(path, { headers: { cookie, ...headers } });
    return { status: answer.status, location: answer.headers.get('location'), page: await answer.text() };
  };
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields);
    const answer = await given.request(path, { method: 'POST', body, headers: { cookie, ...headers } });
    return { status: answer.status, location: answer.headers.get('location'), page: await answer.text() };
  };
  /** Opens a form, fills some of its fields, and sends it. */
  const fill = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const { page } = await get(path, headers);
    const form = formsIn(page).find(({ action }) => action.startsWith('/do/'))!;
    return post(form.action, { ...form.values, ...fields }, headers);
  };
  return { ...operator, get, post, fill };
}

interface Described {
  id: string;
  method: string;
  path: string;
}

async function operations(): Promise<Described[]> {
  const { paths } = (await (await given.request('/operator/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({ id, method, path })),
  );
}

/** Returns the forms of operations. The password of an operator has a page of its own. */
const withForm = async () =>
  (await operations()).filter(({ id, method }) => method !== 'get' && id !== 'accountPassword');

describe('every form', () => {
  test('asks for no id: what has one is chosen, and a form comes as soon as it is known what it is about', async () => {
    const things = await createThings(given.database);
    const { get, name } = await signedIn();
    const values: Record<string, string> = { ...textsOf(things), name };
    for (const { id, path } of await withForm()) {
      const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, field]) => field!).filter(
        (field) => values[field],
      );
      const queries = [
        '',
        `eventId=${things.eventId}`,
        new URLSearchParams(inPath.map((field) => [field, values[field]!])).toString(),
      ];
      for (const query of queries) {
        const { status, page } = await get(`/do/${id}?${query}`);
        expect([id, query, status]).toEqual([id, query, 200]);
        const form = formsIn(page).find(({ action }) => action.startsWith('/do/'))!;
        const typed = form.fields.filter(
          ({ isTyped, name: field }) => isTyped && /Ids?$|^(gates|tickets)$/.test(field),
        );
        expect([id, query, typed]).toEqual([id, query, []]);
      }
    }
  });

  test('is there in German, with a label and a hint for each field', async () => {
    const things = await createThings(given.database);
    const { get, name } = await signedIn();
    const values: Record<string, string> = { ...textsOf(things), name };
    for (const { id, path } of await withForm()) {
      const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, field]) => field!).filter(
        (field) => values[field],
      );
      const query = new URLSearchParams(inPath.map((field) => [field, values[field]!])).toString();
      const [english, german] = [await get(`/do/${id}?${query}`), await get(`/do/${id}?${query}`, GERMAN)];
      expect(german.page).toContain('<html lang="de">');
      const titles = [english, german].map(({ page }) => textOf(page, 'h1'));
      expect([id, titles[0]]).not.toEqual([id, titles[1]]);
      const [form] = formsIn(german.page).filter(({ action }) => action.startsWith('/do/'));
      const nameless = form!.fields.filter(
        ({ id: field, isHidden }) => !isHidden && labelOf(german.page, field) === '',
      );
      expect([id, nameless]).toEqual([id, []]);
    }
  });
});

const textsOf = (things: object) =>
  Object.fromEntries(Object.entries(things).map(([name, value]) => [name, String(value)]));

describe('a form of a part', () => {
  test('is filled with what is stored, says what follows, and sends only what was changed', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket({ title: 'VIP', capacity: 30, price: 12.5 });
    const operator = await signedIn();
    const { page } = await operator.get(`/do/ticketUpdate/price?ticketId=${ticketId}`);
    expect(textOf(page, 'h1')).toBe('Change the price of a ticket');
    expect(page).toContain('VIP · Gala: 0 of 30 seats are taken.');
    expect(page).toContain('0 seats were sold; they keep their price.');
    const { fields, values } = formsIn(page).find(({ action }) => action.startsWith('/do/'))!;
    expect(fields.filter(({ isHidden }) => !isHidden).map(({ name }) => name)).toEqual(['price']);
    expect(values['price']).toBe('12.50');
    const german = await operator.get(`/do/ticketUpdate/price?ticketId=${ticketId}`, GERMAN);
    expect(german.page).toContain('value="12,50"');
    const answer = await operator.fill(
      `/do/ticketUpdate/price?ticketId=${ticketId}`,
      { price: '9,90' },
      GERMAN,
    );
    expect([answer.status, answer.location]).toEqual([303, '/?done=ticketUpdate%2Fprice']);
    expect(await findTicket(given.db, ticketId)).toMatchObject({ price: 9.9, capacity: 30, title: 'VIP' });
  });

  test('takes a number as the language of the person groups it', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket({ capacity: 30, price: 12.5 });
    const operator = await signedIn();
    const capacity = `/do/ticketUpdate/capacity?ticketId=${ticketId}`;
    expect(await operator.fill(capacity, { capacity: '5.000' }, GERMAN)).toMatchObject({ status: 303 });
    expect(await findTicket(given.db, ticketId)).toMatchObject({ capacity: 5_000 });
    expect(await operator.fill(capacity, { capacity: '6,000' })).toMatchObject({ status: 303 });
    expect(await findTicket(given.db, ticketId)).toMatchObject({ capacity: 6_000 });
    expect(await operator.fill(capacity, { capacity: '7.000' })).toMatchObject({ status: 422 });
    const price = `/do/ticketUpdate/price?ticketId=${ticketId}`;
    expect(await operator.fill(price, { price: '1.234,50' }, GERMAN)).toMatchObject({ status: 303 });
    expect(await findTicket(given.db, ticketId)).toMatchObject({ capacity: 6_000, price: 1_234.5 });
  });

  test('changes nothing, and says so, if every field has its old value', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket({ price: 12.5 });
    const operator = await signedIn();
    for (const part of ['capacity', 'price', 'sale', 'texts', 'waiting']) {
      const answer = await operator.fill(`/do/ticketUpdate/${part}?ticketId=${ticketId}`, {});
      expect([part, answer.status]).toEqual([part, 422]);
      expect(answer.page).toContain('Nothing was changed: every field has its old value.');
    }
    const subject = `ticket:${ticketId}`;
    expect(await readAuditLog(given.db, { subject, limit: 10 })).toEqual([]);
  });

  test('can empty a text, and take a time away', async () => {
    const fixture = await createFixture(given.db);
    const saleEndsAt = new Date('2030-01-01T10:00:00Z');
    const ticketId = await fixture.addTicket({ benefits: 'Free drinks', saleEndsAt });
    const operator = await signedIn();
    const open = (part: string) => `/do/ticketUpdate/${part}?ticketId=${ticketId}`;
    expect((await operator.fill(open('texts'), { benefits: '' })).status).toBe(303);
    expect((await operator.fill(open('sale'), { saleEndsAt: '' })).status).toBe(303);
    expect(await findTicket(given.db, ticketId)).toMatchObject({ benefits: '', saleEndsAt: null });
  });

  test('says what is wrong beside the field, in the language of the person, and puts the focus there', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    const operator = await signedIn();
    const path = `/do/ticketUpdate/capacity?ticketId=${ticketId}`;
    const { status, page } = await operator.fill(path, { capacity: '5,000' }, GERMAN);
    expect(status).toBe(422);
    const input = /<input[^>]* name="capacity"[^>]*>/.exec(page.replaceAll(/\s+/g, ' '))![0];
    expect(input).toContain('aria-invalid="true"');
    expect(input).toContain('autofocus');
    expect(input).toContain('value="5,000"');
    expect(input).toContain('aria-describedby="capacity-hint"');
    const hint = /id="capacity-hint">(.*?)<\/p>/s.exec(page)![1]!;
    expect(hint).toContain('Ungültig:');
    expect(hint).toContain('eine ganze Zahl von 0 bis 2.147.483.647, zum Beispiel 5.000');
    expect(page.match(/autofocus/g)).toHaveLength(1);
    const refused = await operator.fill(`/do/ticketUpdate/sale?ticketId=${ticketId}`, {
      saleStartsAt: '2030-01-02T10:00',
      saleEndsAt: '2030-01-01T10:00',
    });
    expect(refused.page).toContain('the sale must start before it ends');
  });

  test('stops and resumes a sale, and the button says which', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    const operator = await signedIn();
    const stop = `/do/ticketUpdate/switch?ticketId=${ticketId}&active=false`;
    const { page } = await operator.get(stop);
    expect([textOf(page, 'h1'), page.includes('class="danger"')]).toEqual([
      'Stop the sale of a ticket',
      true,
    ]);
    expect((await operator.fill(stop, {})).status).toBe(303);
    expect(await findTicket(given.db, ticketId)).toMatchObject({ active: false });
    const resume = `/do/ticketUpdate/resume?ticketId=${ticketId}&active=true`;
    expect(textOf((await operator.get(resume)).page, 'h1')).toBe('Resume the sale of a ticket');
    expect((await operator.fill(resume, {})).status).toBe(303);
    expect(await findTicket(given.db, ticketId)).toMatchObject({ active: true });
  });
});

describe('times', () => {
  const place = (eventId: number) => `/do/eventUpdate/place?eventId=${eventId}`;

  test('are those of the zone of the event, also of the zone that the form sets', async () => {
    const { eventId } = await createFixture(given.db);
    const operator = await signedIn();
    const startsAt = '2026-12-04T11:00';
    await operator.fill(place(eventId), { startsAt, endsAt: '2026-12-04T23:00', timeZone: 'Europe/Berlin' });
    expect(await findEvent(given.db, eventId)).toMatchObject({
      startsAt: new Date('2026-12-04T10:00:00Z'),
      endsAt: new Date('2026-12-04T22:00:00Z'),
    });
    const { page } = await operator.get(place(eventId));
    expect(formsIn(page).find(({ action }) => action.startsWith('/do/'))!.values).toMatchObject({ startsAt });
    // The clock shows the same in the new zone.
    await operator.fill(place(eventId), { timeZone: 'America/New_York' });
    expect(await findEvent(given.db, eventId)).toMatchObject({
      startsAt: new Date('2026-12-04T16:00:00Z'),
      endsAt: new Date('2026-12-05T04:00:00Z'),
    });
  });

  test('of the end move with the start, unless the end is changed, too, or the box is not checked', async () => {
    const { eventId } = await createFixture(given.db);
    const operator = await signedIn();
    const asNew = { startsAt: '2027-03-26T11:00', endsAt: '2027-03-26T23:00', timeZone: 'Europe/Berlin' };
    await operator.fill(place(eventId), asNew);
    const timesOf = async () => {
      const { startsAt, endsAt } = await findEvent(given.db, eventId);
      return [startsAt, endsAt].map((time) => time?.toISOString().slice(0, 16));
    };
    // A week later, the clock is one hour ahead.
    await operator.fill(place(eventId), { startsAt: '2027-04-02T11:00' });
    expect(await timesOf()).toEqual(['2027-04-02T09:00', '2027-04-02T21:00']);
    await operator.fill(place(eventId), { startsAt: '2027-04-02T12:00', endsAt: '2027-04-02T22:30' });
    expect(await timesOf()).toEqual(['2027-04-02T10:00', '2027-04-02T20:30']);
    await operator.fill(place(eventId), { startsAt: '2027-04-02T10:00', movesEnd: '' });
    expect(await timesOf()).toEqual(['2027-04-02T08:00', '2027-04-02T20:30']);
  });

  test('stay as they are where nobody changes them, to the millisecond', async () => {
    const { eventId } = await createFixture(given.db);
    const startsAt = new Date('2026-10-25T00:30:12.345Z');
    const operator = await signedIn();
    const change = { startsAt: startsAt.toISOString(), timeZone: 'Europe/Berlin' };
    await given.call(operator.session, `PATCH /events/${eventId}`, change);
    await operator.fill(place(eventId), { venue: 'Town Hall' });
    expect(await findEvent(given.db, eventId)).toMatchObject({ venue: 'Town Hall', startsAt });
  });

  test('with a zone that does not exist are refused because of the zone', async () => {
    const { eventId } = await createFixture(given.db);
    const operator = await signedIn();
    const fields = { startsAt: '2026-12-04T11:00', timeZone: 'Middle/Earth' };
    const { status, page } = await operator.fill(place(eventId), fields);
    expect(status).toBe(422);
    expect(page).toContain('a time zone such as Europe/Berlin, or none');
    expect(page).not.toContain('a time, or none</p>');
    expect(page).toContain('value="2026-12-04T11:00"');
  });
});

describe('what concerns many', () => {
  test('happens only after its number is typed', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    const seats = Array.from({ length: 120 }, () => reservationOf(fixture, ticketId));
    await reserveBatch(given.db, randomUUID(), seats);
    await finalizePending(given.db, fixture.shardId);
    const operator = await signedIn();
    const path = `/do/eventCallOff?eventId=${fixture.eventId}`;
    const { page } = await operator.get(path);
    expect(page).toContain('Type the number 120 to confirm');
    expect(page).toContain(
      '120 registrations are cancelled, and those that come until the sale has stopped.',
    );
    for (const confirmed of ['', '12']) {
      const refused = await operator.fill(path, { confirmed });
      expect([refused.status, refused.page.includes('the number above')]).toEqual([422, true]);
    }
    expect(await findEvent(given.db, fixture.eventId)).toMatchObject({ calledOffAt: null });
    const done = await operator.fill(path, { confirmed: '120' });
    expect([done.status, done.location]).toEqual([
      303,
      expect.stringMatching(/^\/jobs\/[0-9a-f-]{36}\?done=eventCallOff$/),
    ]);
  });

  test('that has changed since it was shown is shown again with its new number', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    const sell = async () => {
      await reserveBatch(given.db, randomUUID(), [reservationOf(fixture, ticketId)]);
      await finalizePending(given.db, fixture.shardId);
    };
    await sell();
    const operator = await signedIn();
    const fields = { eventId: String(fixture.eventId), expect: '5', jobId: randomUUID() };
    const refused = await operator.post('/do/jobCancel', fields);
    expect(refused.status).toBe(409);
    expect(refused.page).toContain('the preview had 5 registrations, and now there are 1');
    expect(formsIn(refused.page).find(({ action }) => action === '/do/jobCancel')!.values).toMatchObject({
      expect: '1',
    });
  });

  test('a preview shows who it is, and its form starts the job with the same filter', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    await reserveBatch(given.db, randomUUID(), [reservationOf(fixture, ticketId, { fullName: 'Ada Früh' })]);
    await finalizePending(given.db, fixture.shardId);
    const operator = await signedIn();
    const preview = await operator.fill(`/do/jobCancelPreview?eventId=${fixture.eventId}`, { name: 'ada' });
    expect(preview.status).toBe(200);
    expect(preview.page).toContain('Ada Früh');
    const form = formsIn(preview.page).find(({ action }) => action === '/do/jobCancel')!;
    expect(form.values).toMatchObject({ eventId: String(fixture.eventId), name: 'ada', expect: '1' });
    const started = await operator.post(form.action, form.values);
    // A second click starts nothing else.
    const again = await operator.post(form.action, form.values);
    expect([started.status, again.location]).toEqual([303, started.location]);
  });
});

describe('a session that has ended', () => {
  const signIn = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    given.request('/sign-in', { method: 'POST', body: new URLSearchParams(fields), headers });

  test('a deep link comes back after the sign-in', async () => {
    const { name, password } = await given.addOperator('owner');
    const link = '/partners?q=a%26b';
    const asked = await given.request(link);
    expect([asked.status, asked.headers.get('location')]).toEqual([
      303,
      '/sign-in?next=%2Fpartners%3Fq%3Da%2526b',
    ]);
    const page = await (await given.request(asked.headers.get('location')!)).text();
    const { values } = formsIn(page).find(({ action }) => action === '/sign-in')!;
    const answer = await signIn({ ...values, name, password });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, link]);
  });

  test.for(['//evil.example', '/\\evil.example', 'https://evil.example/', '/\t/evil.example'])(
    'the sign-in leads to no other site: %j',
    async (next) => {
      const { name, password } = await given.addOperator('viewer');
      const answer = await signIn({ name, password, next });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    },
  );

  test('a form that is sent then comes back filled after the sign-in, and nothing has happened', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    const { name, password } = await given.addOperator('owner');
    const body = new URLSearchParams({
      ticketId: String(ticketId),
      'asked.title': '',
      'was.title': 'Standing',
      title: '"><script>alert(1)</script>',
      back: `/events/${fixture.eventId}`,
    });
    const asked = await given.request('/do/ticketUpdate/texts', { method: 'POST', body });
    const page = await asked.text();
    expect([asked.status, page.includes('Your session has ended.')]).toEqual([401, true]);
    expect(page).not.toContain('<script>alert');
    const { values } = formsIn(page).find(({ action }) => action === '/sign-in')!;
    const wrong = await (await signIn({ ...values, name, password: 'wrong' })).text();
    const kept = formsIn(wrong).find(({ action }) => action === '/sign-in')!.values;
    const filled = await (await signIn({ ...kept, name, password })).text();
    expect(filled).not.toContain('<script>alert');
    const form = formsIn(filled).find(({ action }) => action === '/do/ticketUpdate/texts')!;
    expect(form.values).toMatchObject({ title: '"><script>alert(1)</script>', ticketId: String(ticketId) });
    expect(await findTicket(given.db, ticketId)).toMatchObject({ title: 'Standing' });
  });

  test('what was kept does nothing that the operator who signs in may not do', async () => {
    const fixture = await createFixture(given.db);
    const ticketId = await fixture.addTicket();
    const { name, password } = await given.addOperator('viewer');
    const kept = JSON.stringify({ ticketId: String(ticketId), active: 'false' });
    const answer = await signIn({ name, password, next: '/do/ticketUpdate', kept });
    expect(answer.status).toBe(403);
    for (const strange of ['null', '7', '[]', '{"ticketId":{}}', 'no json', '{"__proto__":{"a":1}}'])
      expect((await signIn({ name, password, next: '/', kept: strange })).status).toBe(303);
  });

  test('secrets that were typed are not kept', async () => {
    const fields = {
      token: 'A SECRET PASS',
      url: 'https://partner.example/?key=hidden',
      description: 'visible',
    };
    for (const id of ['passVerify', 'webhookCreate']) {
      const answer = await given.request(`/do/${id}`, { method: 'POST', body: new URLSearchParams(fields) });
      const page = await answer.text();
      expect([
        answer.status,
        /SECRET|hidden/.test(page.replaceAll('type="hidden"', '')),
        page.includes('visible'),
      ]).toEqual([401, false, true]);
    }
  });

  test('a body is read up to 64 KiB, and a larger one is refused before it is read', async () => {
    const headers = {
      host: 'console',
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    };
    const large = await RawConnection.open(given.consoleUrl);
    large.send(requestText('POST /do/eventCreate', { ...headers, 'content-length': '70000' }, 'name='));
    expect((await large.answer()).status).toBe(413);
    const list = await RawConnection.open(given.consoleUrl);
    list.send(requestText('POST /do/guestImport', { ...headers, 'content-length': '9000000' }, 'csv='));
    expect((await list.answer()).status).toBe(303);
    await Promise.all([large, list].map((connection) => connection.closed()));
    const body = new URLSearchParams({ name: 'ü'.repeat(10_000) });
    const fits = await given.request('/do/eventCreate', { method: 'POST', body });
    expect(fits.status).toBe(401);
    const { values } = formsIn(await fits.text()).find(({ action }) => action === '/sign-in')!;
    const { name, password } = await given.addOperator('owner');
    const filled = await signIn({ ...values, name, password });
    expect([filled.status, (await filled.text()).includes('ü'.repeat(10_000))]).toEqual([200, true]);
  });

  test('another site can send neither the form nor the sign-in', async () => {
    const { name, password } = await given.addOperator('owner');
    const site = { 'sec-fetch-site': 'cross-site' };
    const body = new URLSearchParams({ name: 'Gala' });
    const form = await given.request('/do/eventCreate', { method: 'POST', body, headers: site });
    expect(form.status).toBe(403);
    const kept = JSON.stringify({ name: 'Gala' });
    expect((await signIn({ name, password, next: '/do/eventCreate', kept }, site)).status).toBe(403);
  });
});
