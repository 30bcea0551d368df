import type { FastifyRequest } from 'fastify';
import type { Cookies } from '../cookies.ts';
import { WORDS, type Words } from '../words/index.ts';
import { Format, LANGUAGES, type Language } from './format.ts';

/** How a person sees pages. */
export interface Viewer {
  language: Language;
  words: Words;
  /** In the person's zone. */
  format: Format;
}

const DEFAULT_ZONE = 'UTC';

const isLanguage = (text: string | undefined): text is Language => LANGUAGES.some((one) => one === text);

/** Returns the first language of a header Accept-Language that the console has. */
export function acceptedLanguage(header = ''): Language {
  const asked = header
    .split(',')
    .map((part) => {
      const [tag = '', weight = 'q=1'] = part.split(';');
      return { language: tag.trim().slice(0, 2).toLowerCase(), weight: Number(weight.trim().slice(2)) };
    })
    .sort((one, other) => other.weight - one.weight);
  return asked.map(({ language }) => language).find(isLanguage) ?? 'en';
}

/** Returns whether a text is a name of the IANA time zone database. */
export function isZone(text: string | undefined): text is string {
  if (!text || /^[+-]/.test(text)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** Returns how the sender of a request sees pages: as it chose, otherwise as the browser asks. */
export function viewerOf(request: FastifyRequest, cookies: Cookies): Viewer {
  const chosen = cookies.read(request, 'floodgate_language');
  const language = isLanguage(chosen) ? chosen : acceptedLanguage(request.headers['accept-language']);
  const zone = cookies.read(request, 'floodgate_zone');
  return {
    language,
    words: WORDS[language],
    format: new Format(language, isZone(zone) ? zone : DEFAULT_ZONE),
  };
}
