import {
  answersOf,
  COMMON_FAILURES,
  RevocationQuery,
  RevokedPasses,
  SignedEvent,
  success,
} from '@floodgate/contract';
import { readThroughCache } from '@floodgate/database';
import { defineApi, type ApiContext, type Routes } from '@floodgate/http';
import { createPageAnswer } from '@floodgate/registrations';
import { readEventDocument, readRevocations } from './documents.ts';
import { createPassSigner, jwkSetOf, type PassSigner } from './keys.ts';
import { addPassRoute } from './pass-route.ts';

/** Serves passes, and everything that a door needs to verify them. */
export const passesApi = defineApi({
  settings: {},
  open(context) {
    const signer = createPassSigner({ db: context.reads });
    return {
      publicRoutes: (app) => addKeysRoute(app, signer),
      routes(api) {
        addPassRoute(api, context, signer);
        addEventRoute(api, context, signer);
        addRevocationsRoute(api, context, signer);
      },
    };
  },
});

/** GET /.well-known/floodgate/pass-keys.json: the public keys that verify passes. */
function addKeysRoute(app: Routes, signer: PassSigner): void {
  app.get('/.well-known/floodgate/pass-keys.json', { schema: { hide: true } }, async (_request, reply) => {
    const set = jwkSetOf(await signer.keys());
    // A door that meets an unknown key fetches the keys again, without a cache.
    void reply.header('cache-control', 'public, max-age=300').type('application/jwk-set+json');
    return reply.send(JSON.stringify(set));
  });
}

/** GET /events/passes/event: the event with its current times, signed. */
function addEventRoute(api: Routes, { reads }: ApiContext, signer: PassSigner): void {
  const documents = readThroughCache((eventId: number) => readEventDocument(reads, eventId));
  api.get(
    '/events/passes/event',
    {
      schema: {
        operationId: 'getSignedEvent',
        tags: ['Registrations'],
        summary: 'Get Signed Event',
        description:
          'Returns the event as doors need it: its name, venue and current times, signed with the key that signs passes. When the ' +
          'event moves, a door that fetches this document again admits every pass that was given out before.',
        failures: COMMON_FAILURES,
        response: answersOf(SignedEvent),
      },
    },
    async ({ principal: { eventId } }) => {
      const document = await documents.forceFetch(eventId);
      const event = await signer.sign('floodgate-event', document);
      return success({ event, revision: document.revision });
    },
  );
}

/** GET /events/passes/revoked: the caller's passes that were revoked after a cursor, signed. */
function addRevocationsRoute(api: Routes, context: ApiContext, signer: PassSigner): void {
  const answerPage = createPageAnswer(context.answerWithinMs);
  api.get(
    '/events/passes/revoked',
    {
      schema: {
        operationId: 'listRevokedPasses',
        tags: ['Registrations'],
        summary: 'List Revoked Passes',
        description:
          'Lists the serials of registrations of the same partner under this event that were cancelled after a cursor. Their ' +
          'passes are no longer valid. The list is signed like the passes, so that a door can trust a copy of it.',
        failures: [...COMMON_FAILURES, '11'],
        querystring: RevocationQuery,
        response: answersOf(RevokedPasses),
      },
    },
    async (request, reply) =>
      answerPage(
        request,
        reply,
        (after, limit) => readRevocations(context.reads, request.principal, after, limit),
        async (page) => {
          const { cursor, more } = page;
          return { revocations: await signer.sign('floodgate-revocations', page), cursor, more };
        },
      ),
  );
}
