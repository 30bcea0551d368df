import { Readable } from 'node:stream';
import type { Download } from '@floodgate/operators';
import type { FastifyReply } from 'fastify';

/** Sends a download as a file. The chunks are read as fast as the browser takes them. */
export function sendDownload(reply: FastifyReply, { chunks, type }: Download): FastifyReply {
  void reply.type(type).header('content-disposition', 'attachment');
  return reply.send(Readable.from(chunks));
}
