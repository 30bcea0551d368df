import type { CalledSeat, FinalSeat, HistoryFile, LineOfCall } from './history-file.ts';

// Reads from the calls when each seat can have been granted and released, and finds seats whose calls
// contradict each other.

/** A time, and the line of the call that shows it. */
export interface Span {
  line: number;
  start: number;
  /** Infinity: at any later time. */
  end: number;
}

/** A registration, with all calls about it. */
export interface Seat {
  ticket: number;
  id: string;
  partner: number | null;
  pass: string;
  granted: Span;
  /** Of a call that wants all seats or none: all of them were granted at the same instant. */
  call: string | null;
  /** The seat that it took over. The counter stays. */
  replaces: Seat | null;
  /** Null: it is still taken. */
  released: Span | null;
  /** Another registration has its seat. */
  isReplaced: boolean;
  /** The only calls that released it: all their seats were released at the same instant. */
  releasedBy: string | null;
}

export interface Refusal {
  line: number;
  problem: string;
}

export interface Seats {
  seats: Seat[];
  refusals: Refusal[];
}

const GRANTS = new Set(['register', 'bulk', 'hold', 'offer', 'replace']);
const RELEASES = new Set(['cancel', 'release', 'leave', 'expire', 'reset']);
/** Answers that say that this attempt changed nothing. "refused": nothing was sent. */
const WITHOUT_EFFECT = new Set('refused 10 11 30 31 32 33 34 35 36 37 38 39 40 41 50 90'.split(' '));
/** Answers that are final for all calls with the same reference. */
const FINAL = new Set(['32', '36', '37']);

/** One attempt to get or to release a seat. */
interface Attempt {
  line: LineOfCall;
  seat: CalledSeat;
  answer: string | null;
}

const answerOf = ({ answer }: LineOfCall, seat: CalledSeat) => seat.answer ?? answer;
export const hasEffect = (answer: string | null) => answer === '00';
export const mayHaveEffect = (answer: string | null) => answer === null || !WITHOUT_EFFECT.has(answer);

const attemptsOf = (calls: readonly LineOfCall[], kinds: ReadonlySet<string>): Attempt[] =>
  calls
    .filter(({ call }) => kinds.has(call))
    .flatMap((line) => line.seats.map((seat) => ({ line, seat, answer: answerOf(line, seat) })));

/** Returns the seats of a history, and what its calls and its final state cannot have in common. */
export function readSeats({ calls, final }: HistoryFile): Seats {
  const refusals: Refusal[] = [];
  const refuse = (line: number, problem: string) => void refusals.push({ line, problem });
  const stored = new Map(final.seats.map((seat) => [seat.pass, seat]));
  const grants = attemptsOf(calls, GRANTS);
  const byPass = Map.groupBy(
    grants.filter(({ answer, seat }) => hasEffect(answer) && seat.pass),
    ({ seat }) => seat.pass!,
  );
  for (const [pass, attempts] of byPass) {
    const [first] = attempts as [Attempt, ...Attempt[]];
    const other = attempts.find(({ seat }) => seat.id !== first.seat.id);
    if (other) refuse(other.line.line, `granted seat ${pass}, which line ${first.line.line} was granted`);
    if (!stored.has(pass)) refuse(first.line.line, `granted seat ${pass}, which is not stored`);
  }
  const seats = new Seatings(grants, refuse).read(final.seats);
  const releases = new Releases(attemptsOf(calls, RELEASES), calls);
  for (const seat of seats.values()) {
    const problem = releases.apply(seat, stored.get(seat.pass)!);
    if (problem) refuse(problem.line, problem.problem);
  }
  for (const { line, seat } of attemptsOf(calls, RELEASES).filter(isKnown(seats)))
    refuse(line.line, `released seat ${seat.pass}, which nobody was granted`);
  return { seats: [...seats.values()], refusals };
}

const isKnown =
  (seats: ReadonlyMap<string, Seat>) =>
  ({ answer, seat }: Attempt) =>
    hasEffect(answer) && seat.pass !== undefined && seat.pass !== null && !seats.has(seat.pass);

/** Finds the grant of each stored seat. */
class Seatings {
  readonly #byId: Map<string, Attempt[]>;
  readonly #refuse: (line: number, problem: string) => void;

  constructor(grants: readonly Attempt[], refuse: (line: number, problem: string) => void) {
    this.#byId = Map.groupBy(grants, ({ seat, line }) => seat.id ?? line.id ?? '');
    this.#refuse = refuse;
  }

  read(stored: readonly FinalSeat[]): Map<string, Seat> {
    const seats = new Map<string, Seat>();
    for (const one of stored) {
      const attempts = (this.#byId.get(one.id) ?? []).filter(
        ({ seat }) => seat.ticket === one.ticket && (!seat.pass || seat.pass === one.pass),
      );
      const seat = this.#seatOf(one, attempts);
      if (seat) seats.set(one.pass, seat);
    }
    this.#linkReplaced(seats);
    return seats;
  }

  #seatOf(stored: FinalSeat, attempts: Attempt[]): Seat | null {
    const possible = attempts.filter(({ answer }) => mayHaveEffect(answer));
    const [first] = possible;
    if (!first) {
      const [any] = attempts;
      const problem = any
        ? `was answered ${any.answer}, and has seat ${stored.pass}`
        : `nobody asked for ${stored.pass}`;
      this.#refuse(any?.line.line ?? 0, problem);
      return null;
    }
    const refused = attempts.find(({ answer }) => answer !== null && FINAL.has(answer));
    if (refused)
      this.#refuse(refused.line.line, `was answered ${refused.answer}, and has seat ${stored.pass}`);
    const said = possible.filter(({ answer }) => hasEffect(answer));
    const granted = {
      line: (said[0] ?? first).line.line,
      start: Math.min(...possible.map(({ line }) => line.start)),
      end: Math.min(...said.map(({ line }) => line.end ?? Infinity)),
    };
    const isWhole = first.line.all === true || first.line.call === 'offer';
    return {
      ...stored,
      partner: first.line.partner,
      granted,
      call: isWhole ? `${granted.start} ${granted.end} ${first.line.line}` : null,
      replaces: null,
      released: null,
      isReplaced: stored.replaced,
      releasedBy: null,
    };
  }

  /** A seat passes from one registration to exactly one other. */
  #linkReplaced(seats: Map<string, Seat>): void {
    const successors = new Map<string, Seat>();
    for (const [id, attempts] of this.#byId) {
      const old = attempts[0]!.seat.old;
      if (old === undefined) continue;
      const successor = [...seats.values()].find((seat) => seat.id === id);
      if (!successor) continue;
      const line = attempts[0]!.line.line;
      const other = successors.get(old);
      if (other) this.#refuse(line, `took over seat ${old}, which ${other.pass} has taken over`);
      successors.set(old, successor);
      const before = seats.get(old);
      if (before) successor.replaces = before;
      else this.#refuse(line, `took over seat ${old}, which nobody was granted`);
      if (before && !before.isReplaced)
        this.#refuse(line, `took over seat ${old}, which is stored as not replaced`);
    }
    for (const seat of seats.values())
      if (seat.isReplaced && !successors.has(seat.pass))
        this.#refuse(seat.granted.line, `seat ${seat.pass} was replaced by nobody`);
  }
}

/** Finds when each seat was released. */
class Releases {
  readonly #byPass: Map<string, Attempt[]>;
  readonly #resets: Attempt[];
  readonly #confirmed = new Map<string, LineOfCall>();

  constructor(releases: readonly Attempt[], calls: readonly LineOfCall[]) {
    const isReset = ({ line }: Attempt) => line.call === 'reset';
    // A reset that fails has perhaps released some seats before.
    const possible = releases.filter((one) => mayHaveEffect(one.answer) || isReset(one));
    this.#resets = possible.filter(isReset);
    // "leave" names the entry of the waiting list, whose seats have its reference.
    this.#byPass = Map.groupBy(
      possible.filter((one) => !isReset(one)),
      ({ seat, line }) => seat.pass ?? seat.id ?? line.id ?? '',
    );
    for (const line of calls.filter(({ call, answer }) => call === 'confirm' && hasEffect(answer)))
      for (const { pass } of line.seats) if (pass) this.#confirmed.set(pass, line);
  }

  /** Notes when a seat was released. Returns the contradiction, if there is one. */
  apply(seat: Seat, stored: FinalSeat): Refusal | null {
    // Its successor has the seat.
    if (seat.isReplaced) return null;
    const causes = this.#causesOf(seat);
    const said = causes.filter(
      ({ answer, line }) => hasEffect(answer) && (line.call !== 'reset' || isComplete(line, seat)),
    );
    if (!stored.released) {
      const [first] = said;
      return first ? { line: first.line.line, problem: `released seat ${seat.pass}, which is taken` } : null;
    }
    const [cause] = causes;
    if (!cause) {
      const confirmed = this.#confirmed.get(seat.pass);
      const was = confirmed ? 'confirmed' : 'granted';
      const problem = `seat ${seat.pass} was ${was}, and is released, though no call released it`;
      return { line: (confirmed ?? seat.granted).line, problem };
    }
    seat.released = {
      line: (said[0] ?? cause).line.line,
      start: Math.min(...causes.map(({ line }) => line.start)),
      end: Math.min(...said.map((one) => latestOf(one, causes))),
    };
    const [only, ...others] = causes;
    if (only?.line.call === 'release' && others.length === 0) seat.releasedBy = String(only.line.line);
    if (seat.released.end >= seat.granted.start) return null;
    return { line: seat.released.line, problem: `released seat ${seat.pass} before it was granted` };
  }

  #causesOf(seat: Seat): Attempt[] {
    const own = [...(this.#byPass.get(seat.pass) ?? []), ...(this.#byPass.get(seat.id) ?? [])];
    const resets = this.#resets.filter(
      ({ line, seat: { ticket } }) =>
        ticket === seat.ticket &&
        line.partner === seat.partner &&
        (line.end ?? Infinity) >= seat.granted.start,
    );
    // A seat that was confirmed does not expire.
    const isConfirmed = this.#confirmed.has(seat.pass);
    return [...own, ...resets].filter(({ line }) => !(isConfirmed && line.call === 'expire'));
  }
}

/** Whether a reset has released the seat at its end. */
const isComplete = ({ state, start }: LineOfCall, { granted }: Seat) =>
  state === 'done' && granted.end <= start;

/** The latest time at which a release took effect. One after the end of the hold may have found it ended already. */
function latestOf({ line }: Attempt, causes: readonly Attempt[]): number {
  const end = line.end ?? Infinity;
  const hasExpired = causes.some((one) => one.line.call === 'expire' && one.line.start <= end);
  return line.call === 'release' && hasExpired ? Infinity : end;
}
