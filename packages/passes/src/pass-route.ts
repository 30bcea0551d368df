import { setImmediate as nextTick } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import {
  answersOf,
  AttendeePass,
  COMMON_FAILURES,
  parsePassReference,
  RegistrationStatus,
  success,
} from '@floodgate/contract';
import { readThroughCache, shardLoader } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import type { ApiContext, Routes } from '@floodgate/http';
import { findRegistrations, passReferenceOf, type RegistrationQuery } from '@floodgate/registrations';
import { createFairQueue } from '@floodgate/service/fair-queue';
import Negotiator from 'negotiator';
import { validityOf } from './documents.ts';
import type { PassSigner } from './keys.ts';
import { qrPng, qrSvg } from './qr-code.ts';
import { parsePass } from './token.ts';

const PICTURES = { 'image/svg+xml': qrSvg, 'image/png': qrPng };
/** The first is the default. */
const MEDIA_TYPES = ['application/json', ...Object.keys(PICTURES)];

/** GET /events/registrations/{passReference}/pass: the pass of a registration, as a token or as a QR code. */
export function addPassRoute(api: Routes, context: ApiContext, signer: PassSigner): void {
  const { reads, shardReads } = context;
  const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
    findRegistrations(reads, queries),
  );
  const events = readThroughCache((id: number) => findEvent(reads, id));
  const queue = createFairQueue(context);
  api.get(
    '/events/registrations/:passReference/pass',
    {
      schema: {
        operationId: 'getPass',
        tags: ['Registrations'],
        summary: 'Get Pass',
        description:
          'Returns the pass of a confirmed registration that the same partner made under this event: by `Accept`, as JSON ' +
          'with a signed token, or as a picture of its QR code, image/svg+xml or image/png. The pass names the event, not its ' +
          'times: it stays valid when the event moves. It changes only with the signing key.',
        failures: [...COMMON_FAILURES, '11', '34', '35'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: answersOf(AttendeePass),
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
      // Found by its serial, then compared completely: a guessed serial alone opens nothing.
      if (!row || passReferenceOf(row) !== passReference) return reply.fail('34');
      if (row.state !== 'confirmed')
        return reply.fail('35', {
          message: `The registration is ${row.state}, and only a confirmed one has a pass`,
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
        await nextTick();
        return picture;
      };
      const picture = await queue(partnerId, () => !raw.socket.destroyed, draw);
      return reply.type(mediaType).send(picture as never);
    },
  );
}
