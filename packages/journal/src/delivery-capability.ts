import type { Registry } from '@prometheus-io/client';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import type { ConsumerKind, Database } from '@floodgate/database';
import type { Logger, Page, PeriodicTask } from '@floodgate/service';

/** The dependencies that the delivery process passes to every capability. */
export interface DeliveryContext<Config> {
  db: Database;
  log: Logger;
  metrics: Registry;
  config: Config;
}

/** A capability while the delivery process runs. */
export interface OpenDelivery {
  tasks: readonly PeriodicTask[];
  /** Pages for operators, served next to the health endpoint. */
  pages?: readonly Page[];
  /** Starts nothing more, and resolves when nothing is in flight. */
  close(): Promise<void>;
}

/** A capability's interface to the delivery process: it reads the journal and sends messages. */
export interface DeliveryCapability<Settings extends TProperties = TProperties> {
  kind: ConsumerKind;
  settings: Settings;
  open(context: DeliveryContext<Static<TObject<Settings>>>): Promise<OpenDelivery>;
}

/** Returns the interface as it is, with the types of its settings inferred. */
export const defineDelivery = <Settings extends TProperties>(
  face: DeliveryCapability<Settings>,
): DeliveryCapability => face;
