import names from './setting-names.json' with { type: 'json' };

/** Settings of all processes, which may share one environment. */
const KNOWN = new Set(names);
/** Prefixes that only Floodgate's settings have. Other programs also use prefixes such as DATABASE_. */
const OUR_PREFIX = /^(MAIL|QUEUE|WEBHOOK|SMTP|FINALIZE)_/;
/** Variables that Kubernetes and Docker set for a service named "queue" or "mail". */
const FROM_ORCHESTRATOR = /_(SERVICE_HOST|SERVICE_PORT.*|PORT|PORT_\d+_.*)$/;
/** Shorter settings are not compared: many words are one edit away from PORT. */
const SHORTEST = 6;

// Kept, although it is small gain: the settings share no prefix, so unknown names cannot be refused, and a
// mistyped name would silently leave the default.

/**
 * Returns variables that look like a mistyped setting: no process has such a setting, but one of `settings`
 * is one edit away or has the same prefix. `likely` are the settings that may be meant.
 */
export function mistypedSettings(settings: readonly string[], env: NodeJS.ProcessEnv) {
  const unknown = Object.keys(env).filter((name) => !KNOWN.has(name) && !FROM_ORCHESTRATOR.test(name));
  return unknown.flatMap((name) => {
    const near = settings.filter((setting) => setting.length >= SHORTEST && isOneEdit(name, setting));
    const prefix = OUR_PREFIX.exec(name)?.[0];
    const likely =
      near.length > 0 || !prefix ? near : settings.filter((setting) => setting.startsWith(prefix));
    return likely.length > 0 ? [{ name, likely }] : [];
  });
}

/** Returns whether one letter is missing, added or different, or two adjacent letters are swapped. */
function isOneEdit(left: string, right: string) {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const here = left.slice(start, left.length - end);
  const there = right.slice(start, right.length - end);
  const isSwapped = here.length === 2 && here === there.split('').toReversed().join('');
  return isSwapped || Math.max(here.length, there.length) === 1;
}
