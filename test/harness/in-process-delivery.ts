import { ConnectionFailed } from '@floodgate/database';
import { DeliveryConfig } from '@floodgate/delivery';
import { startDelivery } from '@floodgate/delivery/start-delivery';
import { loadConfig } from '@floodgate/service';
import { findFreePort } from './free-port.ts';
import { keptLog } from './kept-log.ts';
import { underTest } from './service-roles.ts';

/** Deliveries in the test's own process. A start takes a tenth of that of a process. */
export interface InProcessDelivery {
  /** Base URL of its health, metrics and pages. */
  baseUrl: string;
  /** Returns its log so far. */
  output(): string;
  /** Stops it, as SIGTERM does. Can be repeated. */
  end(): Promise<void>;
}

const ATTEMPTS = 5;

/** On a busy machine a connection can take longer than a service waits for it. A supervisor would start it again. */
async function startPatiently<Service>(start: () => Promise<Service>): Promise<Service> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof ConnectionFailed) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Starts to deliver as main.ts does, on a free port. */
export async function startInProcessDelivery(
  env: { DATABASE_URL: string } & Record<string, string>,
): Promise<InProcessDelivery> {
  const port = String(await findFreePort());
  const common = { DELIVERY_HOST: '127.0.0.1', DELIVERY_PORT: port };
  const config = loadConfig(DeliveryConfig, underTest('delivery', { ...common, ...env }));
  const { log, logged, assertNothingPrivate } = keptLog('delivery process');
  const delivery = await startPatiently(() => startDelivery(config, log));
  let ended: Promise<void> | undefined;
  const stop = async () => {
    await delivery[Symbol.asyncDispose]();
    assertNothingPrivate();
  };
  return { baseUrl: `http://127.0.0.1:${port}`, output: logged, end: () => (ended ??= stop()) };
}
