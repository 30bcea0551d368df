import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { HttpSocket } from './connections.ts';

type Done = (error?: Error | null) => void;
interface Chunk {
  chunk: string | Buffer;
  encoding: BufferEncoding;
}

const gathered = new WeakSet<HttpSocket>();

/**
 * Sends together what answers pipelined requests of one connection in one turn of the event loop. Node writes an answer when the
 * one before it is written, and these writes are a good part of what a registration costs the process. Connections on which nobody
 * asks before the answer to the last request are left as they are.
 */
export function gatherPipelinedAnswers(server: Server): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const due = (socket as HttpSocket)._httpMessage;
    if (!due || due === response || gathered.has(socket)) return;
    gathered.add(socket);
    gather(socket);
  });
}

/** Has a socket say that it has written what it keeps until the end of the turn; one write at a time is under way. */
function gather(socket: HttpSocket): void {
  const own = {
    _write: socket._write,
    _writev: socket._writev,
    _final: socket._final,
    _destroy: socket._destroy,
  };
  let kept: Chunk[] = [];
  let keptLength = 0;
  let isWriting = false;
  let isScheduled = false;
  /** Who has added to it during a write, and waits: as slow as the client is, so slow comes the next answer. */
  let waiting: Done | null = null;

  function flush(): void {
    if (kept.length === 0 || isWriting) return;
    const chunks = kept;
    kept = [];
    keptLength = 0;
    isWriting = true;
    write(chunks, (error) => {
      isWriting = false;
      const added = waiting;
      waiting = null;
      if (error) socket.destroy(error);
      added?.(error);
      flush();
    });
  }

  /** Strings as one: the socket would send each by itself, or make buffers of them. */
  function write(chunks: readonly Chunk[], done: Done): void {
    const [{ encoding }] = chunks as [Chunk];
    const isText = chunks.every((one) => typeof one.chunk === 'string' && one.encoding === encoding);
    if (isText) own._write.call(socket, chunks.map(({ chunk }) => chunk).join(''), encoding, done);
    else own._writev!.call(socket, chunks as never, done);
  }

  function keep(chunks: readonly Chunk[], done: Done): void {
    kept.push(...chunks);
    if (isWriting) {
      waiting = done;
      return;
    }
    for (const { chunk } of chunks) keptLength += chunk.length;
    done();
    // No more than that is kept of who does not take it.
    if (keptLength >= socket.writableHighWaterMark) flush();
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      flush();
    });
  }

  socket._write = (chunk: string | Buffer, encoding, done) => keep([{ chunk, encoding }], done);
  socket._writev = (chunks, done) => keep(chunks, done);
  socket._final = (done) => {
    flush();
    own._final.call(socket, done);
  };
  socket._destroy = (error, done) => {
    // Node takes a connection for idle of which this is the last answer.
    if (!error) flush();
    own._destroy.call(socket, error, done);
  };
}
