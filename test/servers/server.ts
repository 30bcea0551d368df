/** A server for tests, and its origin. */
export interface RunningService {
  url: string;
  /** Shown in the line about the tests' servers. */
  origin: string;
  stop(): Promise<void>;
}

/** One way to start a server. Returns null or throws if this machine cannot do it. */
export type Source = () => Promise<RunningService | null>;

/** Returns the server of the first source that works, with the reasons of the sources that failed. */
export async function firstOf(
  sources: Record<string, Source>,
): Promise<{ service: RunningService | null; reason: string }> {
  const reasons: string[] = [];
  for (const [name, source] of Object.entries(sources)) {
    const service = await source().catch((error: Error) => {
      reasons.push(`${name}: ${error.message.split('\n', 1)[0]}`);
      return null;
    });
    if (service) return { service, reason: '' };
  }
  return { service: null, reason: reasons.join('; ') || 'not on this machine' };
}

/** An existing server whose URL is in an environment variable. */
export function given(variable: string): Source {
  return () => {
    const url = process.env[variable];
    return Promise.resolve(url ? { url, origin: variable, stop: () => Promise.resolve() } : null);
  };
}
