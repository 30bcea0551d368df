import type { ComposedMail, Transport } from '../send/transport.ts';

export interface KeptMail extends ComposedMail {
  id: number;
  at: Date;
}

export interface Outbox extends Transport {
  /** The newest first. */
  list(): KeptMail[];
  find(id: number): KeptMail | undefined;
}

/** Returns what keeps the newest e-mails in memory in place of sending them. Nobody outside gets any. */
export function createOutbox(most: number): Outbox {
  const mails = new Map<number, KeptMail>();
  let lastId = 0;
  return {
    isOutside: false,
    send(mail) {
      const id = (lastId += 1);
      mails.set(id, { ...mail, id, at: new Date() });
      mails.delete(id - most);
      return Promise.resolve({ kind: 'sent' });
    },
    close: () => {},
    list: () => [...mails.values()].toReversed(),
    find: (id) => mails.get(id),
  };
}
