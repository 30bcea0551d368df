const CONSOLE = 'http://console';

/**
 * Returns the page of the console that a text names, otherwise its first page: a form must not lead to
 * another site.
 */
export function pathOf(text = '') {
  const url = URL.parse(text, CONSOLE);
  // Browsers skip control characters.
  const isPath = /^\/[^\\\p{Cc}]*$/u.test(text) && url?.origin === CONSOLE && !url.pathname.startsWith('//');
  return isPath ? text : '/';
}
