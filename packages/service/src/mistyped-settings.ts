import names from './setting-names.json' with { type: 'json' };

/** Settings of every process. The environment may be shared, so that another process's settings are no mistake. */
const KNOWN = new Set(names);
/** Only Floodgate's settings begin with these. Others, such as DATABASE_, may belong to anybody. */
const OUR_PREFIX = /^(MAIL|QUEUE|WEBHOOK|SMTP|FINALIZE)_/;
/** Kubernetes and Docker describe a service named "queue" or "mail" by such variables. */
const FROM_ORCHESTRATOR = /_(SERVICE_HOST|SERVICE_PORT.*|PORT|PORT_\d+_.*)$/;
/** One edit makes PORT of many words. */
const SHORTEST = 6;

/**
 * Returns variables that are no setting of any process, but look like one of `settings`: one edit away, or with a prefix of ours.
 * `likely` are those that may be meant.
 */
export function mistypedSettings(settings: readonly string[], env: NodeJS.ProcessEnv) {
  const unknown = Object.keys(env).filter((name) => !KNOWN.has(name) && !FROM_ORCHESTRATOR.test(name));
  return unknown.flatMap((name) => {
    const near = settings.filter((setting) => setting.length >= SHORTEST && isOneEdit(name, setting));
    const prefix = OUR_PREFIX.exec(name)?.[0];
    const related = prefix ? settings.filter((setting) => setting.startsWith(prefix)) : [];
    const likely = near.length > 0 ? near : related;
    return likely.length > 0 ? [{ name, likely }] : [];
  });
}

/** Returns whether one letter is missing, added or different, or two neighbours are swapped. */
function isOneEdit(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [here, there] = [one, other].map((text) => text.slice(start, text.length - end)) as [string, string];
  const isSwapped = here.length === 2 && here === there.split('').toReversed().join('');
  return isSwapped || Math.max(here.length, there.length) === 1;
}
