import { WORDS, wordsOf } from '@floodgate/console/words';

// Finds English texts in German pages: texts of the English catalogue that the German one does not have, and
// names of operations and fields that nobody has translated.

interface EnglishTexts {
  exact: ReadonlySet<string>;
  patterns: readonly RegExp[];
}

const PLACE = '\u{1}';

/** Returns all texts below a part of the catalogue. A function returns its text with marks for its parameters. */
function textsOf(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  if (typeof part === 'function') {
    try {
      return [(part as (...given: string[]) => string)(PLACE, PLACE, PLACE, PLACE, PLACE)];
    } catch {
      return [];
    }
  }
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(textsOf) : [];
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const LETTERS = /\p{L}{3}/u;
/** Letters that a text with parameters needs, to be recognized. */
const LEAST_LETTERS = 8;

/**
 * Returns the English texts that no German page may show. `summaries`: of operations. `fields`: the names of their
 * fields.
 */
export function englishTexts(summaries: readonly string[], fields: readonly string[]): EnglishTexts {
  const german = new Set(textsOf(WORDS.de).map(normalized));
  const untranslated = fields.map(wordsOf).filter((name) => /[a-z] [a-z]/.test(name));
  const all = [...textsOf(WORDS.en), ...summaries, ...untranslated].map(normalized);
  const foreign = all.filter((text) => LETTERS.test(text) && !german.has(text));
  const [whole, withPlaces] = [
    foreign.filter((text) => !text.includes(PLACE)),
    foreign.filter((text) => text.includes(PLACE)),
  ];
  return {
    exact: new Set(whole),
    patterns: withPlaces
      .filter((text) => text.replaceAll(/\P{L}/gu, '').length >= LEAST_LETTERS)
      .map((text) => new RegExp(`^${text.split(PLACE).map(escaped).join('.*')}$`, 's')),
  };
}

const normalized = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Returns those of the texts of a page that are English. */
export const englishIn = (texts: readonly string[], { exact, patterns }: EnglishTexts) =>
  texts
    .flatMap((text) => [text, ...text.split('; ')])
    .map(normalized)
    .filter((text) => exact.has(text) || patterns.some((pattern) => pattern.test(text)));

/** In a browser: a function that returns the texts of a document that people see or hear, but those marked as English. */
export const SHOWN_TEXTS = `(page) => {
  const texts = [];
  const isEnglish = (element) => element.closest('[lang]')?.lang === 'en';
  const walker = page.createTreeWalker(page.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    if (isEnglish(element) || element.closest('script, style')) continue;
    if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
    else for (const name of ['title', 'alt', 'placeholder', 'aria-label', 'data-label'])
      if (node.hasAttribute(name)) texts.push(node.getAttribute(name));
  }
  return texts.map((text) => text.trim()).filter(Boolean);
}`;
