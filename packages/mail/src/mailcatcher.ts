import type { MailMessage } from './message.ts';
import type { Transport } from './smtp.ts';

export interface CaughtMail extends MailMessage {
  id: number;
  at: Date;
}

export interface Mailcatcher extends Transport {
  /** Newest first. */
  list(): CaughtMail[];
  find(id: number): CaughtMail | undefined;
}

/** Returns a transport that keeps the newest e-mails in memory instead of sending them. */
export function createMailcatcher(most: number): Mailcatcher {
  const mails = new Map<number, CaughtMail>();
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
