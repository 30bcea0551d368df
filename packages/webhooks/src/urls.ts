/** What an endpoint's URL has to be. */
export const URL_RULE = 'url: an https URL of at most 2048 characters, without a user and a password';

/** Returns whether messages can be sent there. Where they really go is looked at when they are sent. */
export function isWebhookUrl(text: string, isDevelopment: boolean): boolean {
  const url = URL.parse(text);
  if (!url || text.length > 2_048) return false;
  const isSecure = url.protocol === 'https:' || (isDevelopment && url.protocol === 'http:');
  return isSecure && url.username === '' && url.password === '' && url.hostname !== '';
}

/** Returns what is wrong with a request that has the right form; null: nothing. */
export function faultIn(
  { url, description }: { url?: string; description?: string },
  isDevelopment: boolean,
): { message: string; invalidFields: { field: string; rule: string }[] } | null {
  const fault = (field: string, message: string) => ({ message, invalidFields: [{ field, rule: 'format' }] });
  if (url !== undefined && !isWebhookUrl(url, isDevelopment)) return fault('url', URL_RULE);
  // Halves of surrogate pairs, which cannot be stored as they were sent.
  if (description !== undefined && !description.isWellFormed())
    return fault('description', 'description: whole characters');
  return null;
}
