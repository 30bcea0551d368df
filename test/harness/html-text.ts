/** Returns a text of an HTML page without its character references, as a browser reads it. */
export const unescaped = (text: string) =>
  text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
