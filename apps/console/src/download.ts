import { Readable } from 'node:stream';
import type { Download } from '@floodgate/operators';
import type { FastifyReply } from 'fastify';

/** Sends a download as a file. Each chunk is read when the browser has taken the one before. */
export function sendDownload(reply: FastifyReply, { chunks, type }: Download): FastifyReply {
  void reply.type(type).header('content-disposition', 'attachment');
  return reply.send(Readable.from(chunks, { highWaterMark: 1 }));
}
