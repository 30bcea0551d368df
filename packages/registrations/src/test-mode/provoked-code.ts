import type { FailureCode, RegistrationRequest } from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';

/** `code-32@floodgate.invalid`, or with a tag, so that there can be many. RFC 2606 reserves the domain: no attendee has one. */
const ADDRESS = /^code-(\d\d)(?:\+[^@]*)?@floodgate\.invalid$/i;

/**
 * Returns the code that the address of a test event's attendee asks for, if it is one of these. Nothing is reserved for it, except
 * for 91: there the first answer is lost, as a real one can be after its commit.
 */
export function provokedCode(
  { mode }: PartnerPrincipal,
  { emailAddress }: RegistrationRequest,
  codes: readonly FailureCode[],
): FailureCode | undefined {
  if (mode !== 'test') return undefined;
  const code = ADDRESS.exec(emailAddress)?.[1];
  return codes.find((one) => one === code);
}
