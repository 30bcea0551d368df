const URL_RULE = 'an https URL of at most 2048 characters, without a user and a password';

/** Returns whether messages can be sent to this URL. Which address it reaches is checked on each connection. */
export function isWebhookUrl(text: string, allowsHttp: boolean): boolean {
  const url = URL.parse(text);
  if (!url || text.length > 2_048) return false;
  const isSecure = url.protocol === 'https:' || (allowsHttp && url.protocol === 'http:');
  return isSecure && url.username === '' && url.password === '' && url.hostname !== '';
}

/** Returns the invalid fields of a webhook, each with its rule, where the schema cannot express it. */
export function checkFields(
  { url, description }: { url?: string; description?: string },
  allowsHttp: boolean,
): Record<string, string> {
  return {
    ...(url !== undefined && !isWebhookUrl(url, allowsHttp) && { url: URL_RULE }),
    // Unpaired surrogates cannot be stored as they were sent.
    ...(description?.isWellFormed() === false && { description: 'text without unpaired surrogates' }),
  };
}
