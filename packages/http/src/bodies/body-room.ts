const MEBIBYTE = 1024 * 1024;
/** Bytes of bodies that a process holds at once, and how many of them may be one partner's. */
const PROCESS_BYTES = 64 * MEBIBYTE;
const PARTNER_BYTES = 16 * MEBIBYTE;

/** Bounds the memory that the bodies of unanswered requests take, of one partner and of all together. */
export class BodyRoom {
  readonly #bytesOf = new Map<number, number>();
  #bytes = 0;

  /**
   * Reserves room for a body. Returns false when there is none. A partner that holds no body gets room for one even when the
   * others fill the process, so that a few slow partners cannot lock out the rest.
   */
  enter(partnerId: number, bytes: number): boolean {
    const held = this.#bytesOf.get(partnerId) ?? 0;
    const limit = held === 0 ? 2 * PROCESS_BYTES : PROCESS_BYTES;
    if (held + bytes > PARTNER_BYTES || this.#bytes + bytes > limit) return false;
    this.#bytesOf.set(partnerId, held + bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Gives the room of one body back. */
  leave(partnerId: number, bytes: number): void {
    const held = this.#bytesOf.get(partnerId)! - bytes;
    if (held === 0) this.#bytesOf.delete(partnerId);
    else this.#bytesOf.set(partnerId, held);
    this.#bytes -= bytes;
  }
}
