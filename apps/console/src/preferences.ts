import { Type, type Static } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { ConsoleContext } from './operations.ts';
import { LANGUAGES } from './view/format.ts';
import { pathOf } from './view/path-of.ts';
import { isZone } from './view/viewer.ts';

const YEAR_SECONDS = 365 * 86_400;

const Preferences = Type.Object({
  language: Type.Optional(Type.Union(LANGUAGES.map((one) => Type.Literal(one)))),
  zone: Type.Optional(Type.String({ maxLength: 64 })),
  back: Type.Optional(Type.String({ maxLength: 4_096 })),
});

/** Adds the form in which a person chooses the language of the console, and the zone of times without an event. */
export function addPreferences(app: FastifyInstance, { cookies }: ConsoleContext) {
  app.post<{ Body: Static<typeof Preferences> }>(
    '/preferences',
    { schema: { body: Preferences } },
    ({ body: { language, zone, back } }, reply) => {
      if (language) cookies.set(reply, 'floodgate_language', language, YEAR_SECONDS);
      if (isZone(zone)) cookies.set(reply, 'floodgate_zone', zone, YEAR_SECONDS);
      return reply.redirect(pathOf(back), 303);
    },
  );
}
