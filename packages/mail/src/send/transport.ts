/** An e-mail as it goes out. */
export interface ComposedMail {
  from: string;
  to: string;
  /** The same whenever it is composed again: who gets it twice may notice. */
  messageId: string;
  content: Buffer;
  /** For the outbox alone. */
  subject: string;
}

/** What came of an attempt to send an e-mail. */
export type Attempt =
  | { kind: 'sent' }
  /** The server wants nothing of this e-mail: for good, or for now. */
  | { kind: 'refused'; isPermanent: boolean; reason: string }
  /** The server refused this e-mail by a policy or a limit. Either this address is blocked, or we are. */
  | { kind: 'policy'; reason: string }
  /**
   * No e-mail gets through at present, as it seems. Doubtful: it was handed over whole, and nobody knows what became of it.
   */
  | { kind: 'unavailable'; isDoubtful: boolean; reason: string };

/** What takes e-mails away. */
export interface Transport {
  /** Whether somebody outside gets what is sent. */
  isOutside: boolean;
  /** Connects without sending anything. Resolves to why that failed, as codes; null: it did not fail. */
  check?(): Promise<string | null>;
  /** Resolves when the e-mail was taken, or not. Never rejects. */
  send(mail: ComposedMail): Promise<Attempt>;
  /** Ends also what is under way. */
  close(): void;
}
