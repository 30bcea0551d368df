import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { findFreePort } from './free-port.ts';
import { onTestFinished } from 'vitest';

/** An e-mail that the server has accepted. */
export interface ReceivedMail {
  to: string;
  messageId: string;
  content: string;
}

interface Refusal {
  responseCode: number;
  message: string;
}

export interface MailServer {
  url: string;
  /** In the order of acceptance. */
  mails: ReceivedMail[];
  /** Refuses recipients, or returns undefined to accept them. */
  onRecipient: (address: string) => Refusal | undefined;
  /** Refuses messages, or returns undefined to accept them. May be slow. */
  onMessage: (mail: ReceivedMail) => Refusal | undefined | Promise<Refusal | undefined>;
  /** Whether the server answers accepted messages. If false, it ends the connection without an answer. */
  answers: boolean;
  /** Ends all connections and stops listening. */
  stop(): Promise<void>;
}

const refusalError = ({ responseCode, message }: Refusal) =>
  Object.assign(new Error(message), { responseCode });

/** Starts a real SMTP server that stops after the test. */
export async function startMailServer(port = 0, options: SMTPServerOptions = {}): Promise<MailServer> {
  const sockets = new Set<{ destroy(): void }>();
  const handle: MailServer = {
    url: '',
    mails: [],
    onRecipient: () => undefined,
    onMessage: () => undefined,
    answers: true,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onRcptTo({ address }, _session, done) {
      const refusal = handle.onRecipient(address);
      done(refusal && refusalError(refusal));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on(
        'end',
        () => void accept(Buffer.concat(chunks).toString(), session.envelope.rcptTo[0]!.address),
      );
      const accept = async (content: string, to: string) => {
        const messageId = /^Message-ID:\s*(\S+)/im.exec(content)![1]!;
        const mail = { to, messageId, content };
        const refusal = await handle.onMessage(mail);
        if (refusal) return done(refusalError(refusal));
        handle.mails.push(mail);
        if (handle.answers) return done();
        for (const socket of sockets) socket.destroy();
      };
    },
    ...options,
  });
  // Tests cut connections.
  server.on('error', () => {});
  server.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  // Not a port that the system assigns: a test may restart the server on the same port.
  server.listen(port || (await findFreePort()), '127.0.0.1');
  await once(server.server, 'listening');
  handle.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  onTestFinished(() => handle.stop().catch(() => {}));
  return handle;
}
