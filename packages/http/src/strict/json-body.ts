import { isUtf8 } from 'node:buffer';
import { errorCodes, type FastifyInstance } from 'fastify';

/** Fastify drops whatever JavaScript takes for a blank around it; HTTP has two. */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
const WIDE_CHARSET = /;[\t ]*charset="?(?:utf-?16|utf-?32|ucs-?2)/i;

/** A body in a form that nobody here reads. The message is the caller's to read. */
export class UnsupportedBody extends Error {
  override name = 'UnsupportedBody';
  readonly statusCode = 415;
}

/**
 * Makes application/json the only type of body that is read. It has to be UTF-8: Fastify's own parser would put U+FFFD
 * in place of what is not, and a registration would be stored as something else than was sent.
 */
export function readJsonBodies(app: FastifyInstance): void {
  // Unknown fields are ignored, and "__proto__" is one.
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const type = request.headers['content-type']!;
    const coding = request.headers['content-encoding'];
    if (!JSON_TYPE.test(type)) done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type));
    else if (coding !== undefined && coding.toLowerCase() !== 'identity')
      done(new UnsupportedBody('The body must not be compressed (Content-Encoding)'));
    else if (isWide(body) || WIDE_CHARSET.test(type)) done(new UnsupportedBody('The body must be UTF-8'));
    else if (isUtf8(body)) void parse(request, body.toString(), done);
    else done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY());
  });
}

/** Whether it is UTF-16 or UTF-32: these begin with a byte order mark, or have NUL beside JSON's first character. */
function isWide(body: Buffer): boolean {
  const first = body[0];
  const second = body[1];
  const isMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMark || first === 0 || second === 0;
}
