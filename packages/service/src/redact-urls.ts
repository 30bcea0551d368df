/** Returns the text without the credentials of the URLs in it. A password may hold "/" and "@". */
export function redactUrls(text: string): string {
  return text.replaceAll(/:\/\/\S*@/g, '://…@');
}
