import { BULK_ITEM_FAILURES, type FailureCode, type RegistrationRequest } from '@floodgate/contract';
import { refuseAll, type Outcome, type SeatOutcome } from '../register/outcome.ts';
import type { Registrar } from '../register/registrar.ts';
import { REGISTER_FAILURES } from '../register/route.ts';

/** `code-32@floodgate.invalid`, also with a tag, so that there are many. Nobody can ever have such an address (RFC 2606). */
const ADDRESS = /^code-(\d\d)(?:\+[^@]*)?@floodgate\.invalid$/i;

const isOneOf = (codes: readonly FailureCode[], code: string | undefined): code is FailureCode =>
  (codes as readonly (string | undefined)[]).includes(code);

const codeIn = ({ emailAddress }: RegistrationRequest) => ADDRESS.exec(emailAddress)?.[1];

const provoked = (code: FailureCode): SeatOutcome => ({ kind: 'provoked', code });

/** The first answer gets lost, as a real one may after its commit. The same key once more is answered what it was. */
async function loseFirstAnswer(answer: Promise<Outcome>): Promise<Outcome> {
  const outcome = await answer;
  const isFirst = (outcome.kind === 'registered' || outcome.kind === 'bulk') && !outcome.replayed;
  return isFirst ? provoked('91') : outcome;
}

/**
 * Returns a registrar that answers attendees of certain addresses, under test events, with the code that the address names.
 * Nothing is reserved for them, but for 91. It remembers nothing: the same request is answered the same.
 */
export function provoking(registrar: Registrar): Registrar {
  return {
    ...registrar,
    register(principal, request, call) {
      // All that a live one pays.
      if (principal.mode !== 'test') return registrar.register(principal, request, call);
      const code = codeIn(request);
      if (!isOneOf(REGISTER_FAILURES, code)) return registrar.register(principal, request, call);
      if (code !== '91') return Promise.resolve(provoked(code));
      return loseFirstAnswer(registrar.register(principal, request, call));
    },
    registerBulk(principal, requests, isAll, call) {
      if (principal.mode !== 'test') return registrar.registerBulk(principal, requests, isAll, call);
      const codes = requests.map(codeIn);
      // What cannot be said of one registration is said of the call.
      const ofCall = codes.filter(
        (code) => isOneOf(REGISTER_FAILURES, code) && !isOneOf(BULK_ITEM_FAILURES, code),
      );
      const refusal = ofCall.find((code) => code !== '91');
      if (refusal !== undefined) return Promise.resolve(provoked(refusal as FailureCode));
      const answer = registerOthers();
      return ofCall.length > 0 ? loseFirstAnswer(answer) : answer;

      async function registerOthers(): Promise<Outcome> {
        const others = requests.filter((_, index) => !isOneOf(BULK_ITEM_FAILURES, codes[index]));
        const isRefused = others.length === 0 || (isAll && others.length < requests.length);
        const outcome = isRefused
          ? refuseAll(others)
          : await registrar.registerBulk(principal, others, isAll, call);
        if (outcome.kind !== 'bulk') return outcome;
        const rest = outcome.outcomes.values();
        const outcomes = codes.map((code) =>
          isOneOf(BULK_ITEM_FAILURES, code) ? provoked(code) : rest.next().value!,
        );
        return { ...outcome, outcomes };
      }
    },
  };
}
