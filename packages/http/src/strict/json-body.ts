import { isUtf8 } from 'node:buffer';
import { errorCodes, type FastifyInstance } from 'fastify';

/** Fastify drops whatever JavaScript takes for a blank around it; HTTP has two. */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;

/**
 * Makes application/json the only type of body that is read. It has to be UTF-8: Fastify's own parser would put U+FFFD
 * in place of what is not, and a registration would be stored as something else than was sent.
 */
export function parseJson(app: FastifyInstance): void {
  // Unknown fields are ignored, and "__proto__" is one.
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const type = request.headers['content-type']!;
    if (!JSON_TYPE.test(type)) done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type));
    else if (isUtf8(body)) void parse(request, body.toString(), done);
    else done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY());
  });
}
