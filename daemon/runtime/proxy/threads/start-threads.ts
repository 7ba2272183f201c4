// Starts the threads that serve public requests, and connects them to the metrics, the counters and the reload signal.
import { availableParallelism } from 'node:os'
import type { HttpServer } from '../../../../adapters/serve/http/serve-http.ts'
import { widenYoungSpaceForThreads } from '../../../boot/host/heap-growth.ts'
import { findThreadScript } from '../../../boot/host/thread-script.ts'
import type { PublicListener } from '../../../boot/open-listener.ts'
import { formatListenerUrl } from '../../../boot/role-listeners.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { Metric, Metrics } from '../../../kernel/telemetry/metrics.ts'
import type { TraceSpan } from '../../../kernel/telemetry/spans.ts'
import { spanTotal, threadCounters } from '../../../roles/proxy/metrics.ts'
import type { CounterDelta } from '../../../roles/proxy/serving/thread-report.ts'
import { settings } from '../../../roles/proxy/settings.ts'
import { localCounters } from '../counters/local-counters.ts'
import { performServiceRequest } from '../perform-service-request.ts'
import { hasTokenClient } from '../proxy-health.ts'
import type { PublicListenerOptions, PublicListenerState } from '../public-listener-state.ts'
import { reloadOnSignal } from '../reload/reload-proxy.ts'
import { requireFreePort } from '../require-free-port.ts'
import { warnOfSpans } from '../warn-of-spans.ts'
import { buildThreadConfig, type ProxyThreadConfig } from './thread-config.ts'
import { ThreadSupervisor } from './thread-supervisor.ts'

/** Each check also brings the counts of the thread into the metrics. */
const thread_watch = { every_ms: 5_000, hung_ms: 15_000 }

/** `dir`: folder of the audit lines. `sealSegments` seals the open segment of a thread that has ended. */
export async function startThreads(
  options: PublicListenerOptions,
  state: PublicListenerState,
  { listen, tls, context }: Parameters<PublicListener['listen']>[0],
  dir: string,
  sealSegments: (thread: string) => number,
): Promise<HttpServer> {
  const { resolved, clock, log, random, metrics } = options
  if (!('host' in listen)) throw new TypeError('the public listener needs a TCP address, not a local socket')
  state.threads = getSettings(resolved, settings).workers ?? availableParallelism()
  state.tls = tls
  await requireFreePort(listen)
  warnOfSettings(options)
  warnOfSpans(options, resolved)
  widenYoungSpaceForThreads()
  const supervisor = new ThreadSupervisor<ProxyThreadConfig>({
    script: () => findThreadScript('proxy-thread.cjs', new URL('./thread.ts', import.meta.url)),
    threads: state.threads,
    config: buildThreadConfig(resolved, dir, tls, options.spans && 1 / state.threads),
    listen,
    newName: threadNames(clock.now(), random),
    log,
    counters: localCounters(clock.monotonic, random(16)),
    performServiceRequest: (endpoint) => performServiceRequest(context, endpoint),
    deltas: (deltas) => addToMetrics(metrics, deltas),
    observations(observations) {
      state.observations = { ...state.observations, ...observations }
    },
    spans: (spans) => recordSpans(options, spans),
    onThreadEnded: (name) => void sealSegments(name),
    watch: thread_watch,
  })
  state.supervisor = supervisor
  const address = await supervisor.start()
  const onHangUp = () => void reloadOnSignal(context, log)
  process.on('SIGHUP', onHangUp)
  return {
    url: formatListenerUrl(address, tls !== undefined),
    port: address.port,
    close(drain_ms) {
      process.off('SIGHUP', onHangUp)
      return supervisor.drain(drain_ms)
    },
  }
}

function warnOfSettings({ resolved, log }: PublicListenerOptions): void {
  if (!hasTokenClient(resolved)) {
    log.warn('proxy.token.no_client', {
      remedy: 'set PUBLIC_SSO_CLIENT_ID, and PUBLIC_SSO_CLIENT_SECRET or its _FILE; until then nothing is forwarded',
    })
  }
  const { trusted_networks } = getSettings(resolved, settings)
  if (trusted_networks.length > 0) log.warn('proxy.networks.trusted', { networks: trusted_networks })
}

/** Names that sort by time and are never used again, because segments of audit lines bear them. */
function threadNames(started_at: number, random: PublicListenerOptions['random']): () => string {
  const prefix = started_at.toString(36).padStart(9, '0')
  let threads = 0
  return () => {
    threads += 1
    return `${prefix}-${random(4)}-${String(threads).padStart(6, '0')}`
  }
}

/** Spans without room in the queue of the exporter are counted, as those without room in their thread. */
function recordSpans({ spans: exporter, metrics }: PublicListenerOptions, spans: readonly TraceSpan[]): void {
  const recorded = spans.filter((span) => exporter?.end(span) === true).length
  if (recorded > 0) metrics.count(spanTotal, { outcome: 'recorded' }, recorded)
  if (recorded < spans.length) metrics.count(spanTotal, { outcome: 'no_room' }, spans.length - recorded)
}

const metricsByName = new Map<string, Metric>(threadCounters.map((metric) => [metric.name, metric]))

function addToMetrics(metrics: Metrics, deltas: readonly CounterDelta[]): void {
  for (const [name, values, by] of deltas) {
    const metric = metricsByName.get(name)
    if (metric)
      metrics.count(
        metric,
        Object.fromEntries(Object.keys(metric.labels).map((label, index) => [label, values[index] ?? ''])),
        by,
      )
  }
}
