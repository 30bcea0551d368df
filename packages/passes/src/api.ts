import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import {
  answering,
  AttendeePass,
  COMMON_FAILURES,
  parsePassReference,
  RegistrationStatus,
  RevocationQuery,
  RevokedPasses,
  SignedEvent,
  success,
} from '@floodgate/contract';
import { readThroughCache, shardLoader } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { defineApi, type ApiContext, type Routes } from '@floodgate/http';
import {
  createPageAnswer,
  findRegistrations,
  passReferenceOf,
  type RegistrationQuery,
} from '@floodgate/registrations';
import { createFairQueue } from '@floodgate/service/fair-queue';
import Negotiator from 'negotiator';
import { readEventDocument, readRevocations, validityOf } from './documents.ts';
import { createPassSigner, jwkSetOf, type PassSigner } from './pass-keys.ts';
import { qrPng, qrSvg } from './qr-code.ts';
import { parsePass } from './token.ts';

const PICTURES = { 'image/svg+xml': qrSvg, 'image/png': qrPng };
/** The first is the default. */
const MEDIA_TYPES = ['application/json', ...Object.keys(PICTURES)];

/** Serves passes, and everything that a door needs to verify them. */
export const passesApi = defineApi({
  open(context) {
    const signer = createPassSigner({ db: context.reads });
    return {
      publicRoutes(app) {
        app.get(
          '/.well-known/floodgate/pass-keys.json',
          { schema: { hide: true } },
          async (_request, reply) => {
            const set = jwkSetOf(await signer.keys());
            // A door that finds an unknown key bypasses caches and fetches the keys again.
            void reply.header('cache-control', 'public, max-age=300').type('application/jwk-set+json');
            return reply.send(JSON.stringify(set));
          },
        );
      },
      routes(api) {
        addPassRoute(api, context, signer);
        addDoorRoutes(api, context, signer);
      },
    };
  },
});

/** GET /events/registrations/{passReference}/pass: the pass of a registration, as a token or as a QR code. */
function addPassRoute(api: Routes, context: ApiContext, signer: PassSigner): void {
  const { reads, shardReads, clock } = context;
  const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
    findRegistrations(reads, queries),
  );
  const events = readThroughCache((id: number) => findEvent(reads, id), undefined, clock);
  const queue = createFairQueue(context);
  api.get(
    '/events/registrations/:passReference/pass',
    {
      schema: {
        operationId: 'getPass',
        ...answering('Registrations', AttendeePass, [...COMMON_FAILURES, '11', '34', '35']),
        summary: 'Get Pass',
        description:
          'Returns the pass of a confirmed registration that you made under this event. The header `Accept` selects ' +
          'JSON with a signed token, or a picture of the QR code as image/svg+xml or image/png. The pass does not ' +
          'contain the times of the event, so it stays valid if the event moves. It changes only with the signing key.',
        params: Type.Pick(RegistrationStatus, ['passReference']),
        pictures: Object.keys(PICTURES),
        answerHeader: 'Vary',
      },
    },
    async ({ principal: { shardId, partnerId, eventId }, params: { passReference }, raw }, reply) => {
      const mediaType = new Negotiator(raw).mediaType(MEDIA_TYPES);
      if (mediaType === undefined)
        return reply.fail('11', {
          message: `Accept: ${MEDIA_TYPES.join(', ')}`,
          invalidFields: [{ field: 'header/accept', rule: 'enum' }],
        });
      const serial = parsePassReference(passReference)?.serial;
      const row = serial && (await findRegistration({ shardId, serial, partnerId, eventId }));
      // Found by its serial, then compared completely: a guessed serial is not enough.
      if (!row || passReferenceOf(row) !== passReference) return reply.fail('34');
      if (row.state !== 'confirmed')
        return reply.fail('35', {
          message: `The registration is ${row.state}; only a confirmed one has a pass`,
        });
      const pass = await signer.tokenFor(row);
      void reply.header('vary', 'accept');
      if (mediaType === 'application/json') {
        const keyID = String(parsePass(pass)!.keyId);
        const ids = { organizedEventID: eventId, organizedEventTicketID: row.ticketId };
        const validity = validityOf(await events.forceFetch(eventId));
        return success({ passReference, pass, keyID, ...ids, ...validity });
      }
      const draw = async () => {
        const picture = PICTURES[mediaType as keyof typeof PICTURES](pass);
        // Drawing blocks the event loop, so each tick draws one picture.
        await yieldToEventLoop();
        return picture;
      };
      const picture = await queue(partnerId, () => !raw.socket.destroyed, draw);
      return reply.type(mediaType).send(picture as never);
    },
  );
}

/**
 * The event with its current times, and the caller's passes that were revoked after a cursor, both signed.
 */
function addDoorRoutes(api: Routes, { reads, answerWithinMs, clock }: ApiContext, signer: PassSigner): void {
  const documents = readThroughCache((id: number) => readEventDocument(reads, id), undefined, clock);
  api.get(
    '/events/passes/event',
    {
      schema: {
        operationId: 'getSignedEvent',
        ...answering('Registrations', SignedEvent, COMMON_FAILURES),
        summary: 'Get Signed Event',
        description:
          'Returns a signed document for doors, with the name, venue and current times of the event. The key that ' +
          'signs passes also signs this document. If the event moves, a door that fetches the document again accepts ' +
          'all passes that were issued before.',
      },
    },
    async ({ principal: { eventId } }) => {
      const document = await documents.forceFetch(eventId);
      const event = await signer.sign('event', document);
      return success({ event, revision: document.revision });
    },
  );
  const answerPage = createPageAnswer(answerWithinMs, clock);
  api.get(
    '/events/passes/revoked',
    {
      schema: {
        operationId: 'listRevokedPasses',
        ...answering('Registrations', RevokedPasses, [...COMMON_FAILURES, '11']),
        summary: 'List Revoked Passes',
        description:
          'Lists the serials of your registrations under this event that were cancelled after a cursor. Their passes ' +
          'are no longer valid. The list is signed with the same key as the passes, so that a door can trust a copy ' +
          'of it.',
        querystring: RevocationQuery,
      },
    },
    async (request, reply) =>
      answerPage(
        request,
        reply,
        (after, limit) => readRevocations(reads, request.principal, after, limit),
        async (page) => {
          const { cursor, more } = page;
          return { revocations: await signer.sign('revocations', page), cursor, more };
        },
      ),
  );
}
