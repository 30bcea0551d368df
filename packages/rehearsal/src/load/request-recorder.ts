import { NUMBER, type RequestLog } from './load.ts';

const CODE = Buffer.from('"responseCode":"');
const REFERENCE = /"responseData":"([^"]+)"/;
const RETRY_AFTER = /^retry-after: *(\S+)/im;

/** Records the outcome of each request in an open loop. */
export class RequestRecorder {
  readonly #numberAt: Map<Buffer, number>;
  readonly #dueAt: number[] = [];
  readonly #sentAt: number[] = [];
  readonly #answeredAt: number[] = [];
  readonly #code: string[] = [];
  readonly #detail: string[] = [];

  /** `requests` are the texts to send cyclically. NUMBER in a text stands for the request's number. */
  constructor(requests: readonly Buffer[]) {
    this.#numberAt = new Map(requests.map((request) => [request, request.indexOf(NUMBER)]));
  }

  arrived(at: number): void {
    this.#dueAt.push(at);
    this.#sentAt.push(Number.NaN);
    this.#answeredAt.push(Number.NaN);
    this.#code.push('none');
    this.#detail.push('');
  }

  /** Returns the text of the request with this number. */
  sending(number: number, request: Buffer): Buffer {
    this.#sentAt[number] = performance.now();
    const at = this.#numberAt.get(request)!;
    if (at < 0) return request;
    const numbered = Buffer.from(request);
    numbered.write(String(number).padStart(NUMBER.length, '0'), at, 'latin1');
    return numbered;
  }

  gone(number: number): void {
    this.#code[number] = 'gone';
  }

  answered(number: number, status: string, piece: Buffer): void {
    this.#answeredAt[number] = performance.now();
    const at = piece.indexOf(CODE);
    const code = at < 0 ? status : piece.toString('latin1', at + CODE.length, at + CODE.length + 2);
    this.#code[number] = code;
    this.#detail[number] =
      (code === '00' ? REFERENCE : RETRY_AFTER).exec(piece.toString('latin1'))?.[1] ?? '';
  }

  /** Returns the log, with times since `startedAt`. */
  log(startedAt: number): RequestLog {
    const since = (times: number[]) => Float64Array.from(times, (at) => at - startedAt);
    return {
      startedAt: performance.timeOrigin + startedAt,
      dueAt: since(this.#dueAt),
      sentAt: since(this.#sentAt),
      answeredAt: since(this.#answeredAt),
      code: this.#code,
      detail: this.#detail,
    };
  }
}
