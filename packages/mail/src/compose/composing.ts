import type { PassSigner } from '@floodgate/passes';
import { Piscina } from 'piscina';
import type { MailEvent } from '../mail-event.ts';
import type { Recipient } from '../recipients.ts';
import type { ComposedMail } from '../send/transport.ts';
import type { Sender } from './compose-mail.ts';
import type { Composed, ComposeRequest } from './composing-thread.ts';

export interface ComposingOptions {
  passes: PassSigner;
  sender: Sender;
  /** Told of each e-mail that could not be made, for a reason of ours. */
  onError: (error: Error, eventId: number) => void;
}

export type Composing = ReturnType<typeof openComposing>;

/** The thread ends when nobody has asked it for so long. */
const IDLE_MS = 30_000;

/** Opens what composes e-mails in a thread of its own: a picture and a signature for each are half of the work that there is. */
export function openComposing({ passes, sender, onError }: ComposingOptions) {
  const thread = new Piscina<ComposeRequest, Composed[]>({
    filename: new URL('composing-thread.ts', import.meta.url).href,
    minThreads: 0,
    // One composes faster than this process sends.
    maxThreads: 1,
    // The next waits in the thread: else it would wait for this one.
    concurrentTasksPerWorker: 2,
    idleTimeout: IDLE_MS,
    recordTiming: false,
  });

  return {
    /** Resolves to the e-mails of these recipients, by serial. Those that could not be made are missing. */
    async compose(
      event: MailEvent,
      recipients: readonly Recipient[],
    ): Promise<ReadonlyMap<number, ComposedMail>> {
      if (recipients.length === 0) return new Map();
      const { signing: key } = await passes.keys();
      const composed = await thread
        .run({ event, sender, key, recipients })
        .catch((error: Error) => recipients.map(() => ({ error: error.name })));
      const mails = recipients.map(({ serial }, index) => [serial, composed[index]!] as const);
      return new Map(
        mails.flatMap(([serial, mail]) => {
          if (!('error' in mail)) return [[serial, { ...mail, content: bufferOf(mail.content) }]];
          onError(new Error(`an e-mail could not be composed: ${mail.error}`), event.id);
          return [];
        }),
      );
    },
    close: () => thread.destroy(),
  };
}

/** Buffers come out of a thread as plain bytes. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);
