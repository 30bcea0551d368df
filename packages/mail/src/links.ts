import { domainToUnicode } from 'node:url';
import tlds from 'tlds' with { type: 'json' };

/** Those of IANA, and those that it reserves: some programs show them as links, too. */
const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set([
  ...tlds,
  'example',
  'internal',
  'invalid',
  'local',
  'localhost',
  'onion',
  'test',
]);

/** Also the full stops of other scripts, which e-mail programs and browsers read as dots. */
const DOTS = /[.\u3002\uFF0E\uFF61]/u;
/** A URL, an address, or a domain with a port or a path. */
const SURE =
  /:\/\/|\bwww[.\u3002\uFF0E\uFF61]|[\p{L}\p{M}\p{N}][.\u3002\uFF0E\uFF61][\p{L}\p{M}\p{N}-]{2,}[/:?#@]|@/iu;
/** Labels with dots between them. */
const DOTTED = /[\p{L}\p{M}\p{N}_-]+(?:[.\u3002\uFF0E\uFF61][\p{L}\p{M}\p{N}-]+)+/gu;
/**
 * An initial, or a short form such as "Ma." (Maria) or "Mohd.": in a name a dot follows it, with or without a
 * space.
 */
const INITIAL_LENGTH = 4;

/**
 * Returns whether e-mail programs may show a part of a text as a link. Anybody can register any address with
 * any name, so an e-mail that greets by name would carry a stranger's link. "S.Kumar" and "J.R.R.Tolkien" are
 * names: short forms before a word that is no top-level domain. With a longer word before it, a word may
 * become a top-level domain later.
 */
export function looksLikeLink(text: string): boolean {
  // As e-mail programs read it: without what is not displayed.
  const shown = text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return SURE.test(shown) || Array.from(shown.matchAll(DOTTED), ([part]) => part).some(isDomain);
}

function isDomain(part: string): boolean {
  const labels = part.split(DOTS);
  const last = labels.at(-1)!.toLowerCase();
  // A name can end with an initial or a number: "Smith.J", "Kim.3". No top-level domain is so short.
  if (Array.from(last).length < 2 || /^\p{N}+$/u.test(last)) return false;
  const isShort = labels.slice(0, -1).every((label) => Array.from(label).length <= INITIAL_LENGTH);
  return !isShort || TOP_LEVEL_DOMAINS.has(last) || TOP_LEVEL_DOMAINS.has(domainToUnicode(last));
}
