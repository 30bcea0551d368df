import type { ConsumerKind, Database } from '@floodgate/database';
import type { Metrics } from '@floodgate/metrics';
import type { Logger, PeriodicTask, RequestHandler } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';

/** The dependencies that the delivery process passes to every capability. */
export interface DeliveryContext<Config> {
  db: Database;
  log: Logger;
  metrics: Metrics;
  config: Config;
}

/** A capability that the delivery process has opened. */
export interface OpenDelivery {
  tasks: readonly PeriodicTask[];
  /** Pages for operators, served next to the health endpoint. */
  pages?: readonly RequestHandler[];
  /** Starts nothing more. Resolves when nothing is in flight. */
  close(): Promise<void>;
}

/**
 * The interface of a capability to the delivery process. The capability reads the journal and sends messages.
 */
export interface DeliveryCapability<Settings extends TProperties = TProperties> {
  kind: ConsumerKind;
  settings: Settings;
  open(context: DeliveryContext<Static<TObject<Settings>>>): Promise<OpenDelivery>;
}
