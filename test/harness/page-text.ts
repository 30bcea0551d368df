/** Returns HTML without its character references. */
export const decoded = (html: string) =>
  html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** Returns the text of a page, with one space between its parts. */
export const textOf = (html: string) => decoded(html.replaceAll(/<[^>]+>/g, ' ')).replaceAll(/\s+/g, ' ');
