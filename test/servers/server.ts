/** A server that tests use, and how it came to be. */
export interface RunningService {
  url: string;
  /** For the line that says what the tests run against. */
  origin: string;
  stop(): Promise<void>;
}

/** One way to come by a service. Answers null, or throws, where this machine does not have it. */
export type Source = () => Promise<RunningService | null>;

/** Takes the first source that works and remembers why the others did not. */
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

/** A service that somebody else runs, named by an environment variable. */
export function given(variable: string): Source {
  return () => {
    const url = process.env[variable];
    return Promise.resolve(url ? { url, origin: variable, stop: () => Promise.resolve() } : null);
  };
}
