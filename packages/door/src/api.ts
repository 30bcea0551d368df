import { success } from '@floodgate/contract';
import { inCamelCase, readThroughCache } from '@floodgate/database';
import { DRAW_WITHIN_MS } from '@floodgate/database/limits/quota-lease';
import { defineApi, type ApiContext, type Routes } from '@floodgate/http';
import { admitBody } from '@floodgate/partners/body-memory';
import { countNothing, limitRate } from '@floodgate/partners/rate-limit';
import { createPassSigner, jwkSetOf, readEventDocument, readRevocations } from '@floodgate/passes';
import { InvalidInput } from '@floodgate/service/failure';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { addAdmissionsRoute } from './admissions.ts';
import { noteContact, type DevicePrincipal } from './devices.ts';
import { addDocument, described } from './document.ts';
import { createEnrolment, type Enrol } from './enrolment.ts';
import { countAdmissions, listGates } from './gates.ts';
import { serveOneCall } from './one-call.ts';
import { authenticateDevice, deviceOf, REVOKED } from './principal.ts';
import { findOtherEvent, recordScans } from './scans.ts';
import { CounterQuery, EnrolRequest, RevocationsQuery, ScansRequest } from './wire.ts';

const CONNECTIONS = 4;
/** 500 scans have about 250 KiB. */
const BODY_LIMIT_BYTES = 512 * 1024;
const REVOCATIONS_PER_PAGE = 10_000;

/** Serves the devices at the doors, and tells partners who was let in. */
export const doorApi = defineApi({
  open(context) {
    const { log, openPool, answerWithinMs, clock } = context;
    const counters = openPool({
      purpose: 'door limits',
      maxConnections: 1,
      statementTimeoutMs: DRAW_WITHIN_MS,
    });
    // Anybody can make up a token or a code: their look-ups delay neither doors nor partners.
    const openLookups = (purpose: string) =>
      openPool({
        purpose,
        maxConnections: 1,
        connectTimeoutMs: answerWithinMs / 2,
        statementTimeoutMs: answerWithinMs / 2,
      });
    const parts = openParts(context);
    const enrol = createEnrolment(openLookups('enrolment'), clock);
    const hooks = [
      authenticateDevice(openLookups('door tokens'), clock),
      limitRate({ db: counters, log, callerOf: deviceOf, clock }),
      admitBody(deviceOf),
      serveOneCall(),
    ];
    const addRoutes = async (door: Routes) => {
      await addDocument(door);
      addEnrolRoute(door, enrol);
      void door.register((ofDevices, _options, done) => {
        ofDevices.decorateRequest('device', null as never);
        ofDevices.decorateRequest('countAs', countNothing);
        for (const hook of hooks) ofDevices.addHook('onRequest', hook);
        addStateRoutes(ofDevices, parts);
        addScansRoute(ofDevices, parts);
        done();
      });
    };
    return {
      publicRoutes: (app) => void app.register(addRoutes, { prefix: '/door/v1' }),
      routes: (api) => addAdmissionsRoute(api, context),
    };
  },
});

type Parts = ReturnType<typeof openParts>;

function openParts(context: ApiContext) {
  const { reads, openPool, answerWithinMs: statementTimeoutMs, clock } = context;
  // Separate from the reservations: after an outage, all devices send their scans together.
  const db = openPool({ purpose: 'door', maxConnections: CONNECTIONS, statementTimeoutMs });
  const documents = readThroughCache((id: number) => readEventDocument(reads, id), undefined, clock);
  return { ...context, db, documents, signer: createPassSigner({ db: reads }) };
}

/** POST /door/v1/enrol: exchanges a code for the token of a device. */
function addEnrolRoute(door: Routes, enrol: Enrol): void {
  const input = { security: [], body: EnrolRequest };
  const schema = described('enrol', 'Exchange a code for the token of a device', input);
  door.post('/enrol', { schema }, async ({ body }, reply) => {
    const enrolled = await enrol(body);
    if (!enrolled)
      return reply.fail('20', { message: 'The code is unknown, used or expired, or the signature is wrong' });
    const { token, id, name, eventId } = enrolled;
    return success({ token, deviceID: id, deviceName: name, organizedEventID: eventId });
  });
}

/** The routes for the data that a device needs offline, and for the end of its shift. */
function addStateRoutes(door: Routes, { reads, db, signer, documents, clock }: Parts): void {
  const count = (id: number, shardId: number) => countAdmissions(reads, { shardId, id });
  const counts = readThroughCache(count, undefined, clock);
  const gatesOf = async ({ shardId, eventId, gates }: DevicePrincipal) => {
    const counted = await counts.forceFetch(eventId, { context: shardId });
    return (await listGates(reads, { shardId, id: eventId }))
      .filter(({ id }) => gates.includes(id))
      .map(counted)
      .map(({ id, ...gate }) => ({ gateID: id, ...gate }));
  };
  const querystring = CounterQuery;
  const state = described('getState', 'Get the gates, the signed event and the keys', { querystring });
  door.get('/state', { schema: state }, async ({ device, query }) => {
    const { nextCounter, signedOffAt } = await noteContact(db, device, Number(query.counter));
    const event = await signer.sign('event', await documents.forceFetch(device.eventId));
    const keys = jwkSetOf(await signer.keys());
    const ownState = { deviceID: device.deviceId, deviceName: device.name, signedOff: signedOffAt !== null };
    return success({ device: ownState, nextCounter, event, keys, gates: await gatesOf(device) });
  });
  const revocations = described('listRevocations', 'List the revoked passes of all partners, signed', {
    querystring: RevocationsQuery,
  });
  door.get('/revocations', { schema: revocations }, async ({ device, query }) => {
    const scope = { ...device, partnerId: null };
    const page = await readRevocations(reads, scope, Number(query.after), REVOCATIONS_PER_PAGE);
    if (typeof page === 'string') throw new InvalidInput({ after: 'the cursor of the last page, or 0' });
    const { cursor, more } = page;
    return success({ revocations: await signer.sign('revocations', page), cursor, more });
  });
  const addShiftRoute = (path: string, signedOff: boolean, id: string, summary: string) => {
    const schema = described(id, summary, { querystring });
    door.post(path, { schema }, async ({ device, query }) => {
      const { nextCounter } = await noteContact(db, device, Number(query.counter), signedOff);
      return success({ signedOff, nextCounter });
    });
  };
  addShiftRoute('/sign-off', true, 'signOff', 'Promise that no scan follows the last counter');
  addShiftRoute('/resume', false, 'resume', 'Take the promise back');
}

/** POST /door/v1/scans: records scans, and answers the outcome of each. */
function addScansRoute(door: Routes, { reads, db, signer, documents, answerWithinMs, clock }: Parts): void {
  const readTitles = async (eventId: number, shardId: number) => {
    const tickets = inCamelCase(reads).selectFrom('tickets').select(['id', 'title']);
    const ofEvent = await tickets.where(({ and }) => and({ shardId, eventId })).execute();
    return new Map(ofEvent.map(({ id, title }) => [id, title]));
  };
  const titles = readThroughCache(readTitles, undefined, clock);
  const queue = createFairQueue({ answerWithinMs, timeoutAppliesToRunning: false, clock });
  door.post(
    '/scans',
    {
      schema: described('recordScans', 'Record scans, and get their outcomes', { body: ScansRequest }),
      config: { countsBySize: true },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async ({ device, body, raw }, reply) => {
      const event = await documents.forceFetch(device.eventId);
      const record = () => recordScans(db, device, body, signer, event);
      // Somebody waits at the gate. Scans that were decided offline can wait: after an outage, all devices
      // send theirs together.
      const isQuestion = body.scans.length === 1 && body.scans[0]!.decision === null;
      const recorded = isQuestion
        ? await record()
        : await queue(device.deviceId, () => !raw.socket.destroyed, record);
      if ('problem' in recorded)
        return recorded.problem === 'revoked'
          ? reply.fail('20', REVOKED)
          : reply.fail('11', {
              message:
                `scans: another scan with the counter ${recorded.counter} was received before. ` +
                'Enrol the device again',
            });
      const ofTickets = await titles.forceFetch(device.eventId, { context: device.shardId });
      const isUnknown = isQuestion && recorded.outcomes[0]!.outcome === 'unknown';
      const otherEvent = isUnknown
        ? await findOtherEvent(db, body.scans[0]!.pass, device.eventId, signer)
        : null;
      const outcomes = recorded.outcomes.map(({ ticketId, counter, outcome, name, first }) => {
        const ticket = ofTickets.get(ticketId ?? 0) ?? null;
        return { counter, outcome, name: name ?? null, ticket, first: first ?? null, otherEvent };
      });
      return success({ outcomes, nextCounter: body.scans.at(-1)!.counter + 1 });
    },
  );
}
