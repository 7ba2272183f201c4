// The state that the parts of the public listener share: the settings in force, the threads, and what they observed.
import type { SiteResources } from '../../boot/site-resources.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { Metrics } from '../../kernel/telemetry/metrics.ts'
import type { DependencyObservations } from '../../roles/proxy/serving/thread-report.ts'
import type { ProxyThreadConfig } from './threads/thread-config.ts'
import type { ThreadSupervisor } from './threads/thread-supervisor.ts'

export type PublicListenerOptions = Pick<
  SiteResources,
  'folder' | 'resolved' | 'clock' | 'random' | 'resolveSettingsAgain' | 'spans'
> & {
  readonly metrics: Metrics
  readonly log: Log
}

export type PublicListenerState = {
  /** The settings in force. */
  resolved: ResolvedSettings
  /** The certificate in force. */
  tls: ProxyThreadConfig['tls']
  supervisor: ThreadSupervisor<ProxyThreadConfig> | undefined
  /** Configured number of threads. */
  threads: number
  /** The last observation of each dependency, by any thread. */
  observations: DependencyObservations
}
