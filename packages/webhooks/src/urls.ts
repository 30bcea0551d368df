import { WebhookChange } from '@floodgate/contract';

/** What an endpoint's URL has to be. */
export const URL_RULE = 'url: an https URL of at most 2048 characters, without a user and a password';

/** Returns whether messages can be sent there. Where they really go is looked at when they are sent. */
export function isWebhookUrl(text: string, isDevelopment: boolean): boolean {
  const url = URL.parse(text);
  if (!url || text.length > 2_048) return false;
  const isSecure = url.protocol === 'https:' || (isDevelopment && url.protocol === 'http:');
  return isSecure && url.username === '' && url.password === '' && url.hostname !== '';
}

interface Fault {
  message: string;
  invalidFields: { field: string; rule: string }[];
}

const CHANGEABLE = Object.keys(WebhookChange.properties) as (keyof WebhookChange)[];

/** Returns what is wrong with a change that has the right form; null: nothing. Unknown fields are ignored, but alone they change nothing. */
export function faultInChange(change: WebhookChange, isDevelopment: boolean): Fault | null {
  if (CHANGEABLE.some((name) => change[name] !== undefined)) return faultIn(change, isDevelopment);
  const message = `The body must have at least one of these fields: ${CHANGEABLE.join(', ')}`;
  return { message, invalidFields: [{ field: '', rule: 'minProperties' }] };
}

/** Returns what is wrong with a request that has the right form; null: nothing. */
export function faultIn(
  { url, description }: { url?: string; description?: string },
  isDevelopment: boolean,
): Fault | null {
  const fault = (field: string, message: string): Fault => ({
    message,
    invalidFields: [{ field, rule: 'format' }],
  });
  if (url !== undefined && !isWebhookUrl(url, isDevelopment)) return fault('url', URL_RULE);
  // Halves of surrogate pairs, which cannot be stored as they were sent.
  if (description !== undefined && !description.isWellFormed())
    return fault('description', 'description: whole characters');
  return null;
}
