// The public door of the proxy role, in place of a listener of operations: its threads, its journal, and its configuration.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { segmentFolder } from '../../../adapters/audit/segments/segment-folder.ts'
import type { HttpServer } from '../../../adapters/serve/http/serve-http.ts'
import { widenYoungSpaceForThreads } from '../../boot/host/heap-growth.ts'
import { findThreadScript } from '../../boot/host/thread-script.ts'
import { getSettings } from '../../boot/profile.ts'
import type { PublicListener } from '../../boot/service.ts'
import type { SiteResources } from '../../boot/site-resources.ts'
import { chooseDocumentsHome } from '../../boot/storage/documents.ts'
import { roleDataFolder } from '../../boot/storage/site-folder.ts'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import type { Log } from '../../kernel/operation/call.ts'
import { createServiceCall, type RoleContext } from '../../kernel/operation/perform-operation.ts'
import type { DependencyHealth } from '../../kernel/role/built-in-operations.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Metric, Metrics } from '../../kernel/telemetry/metrics.ts'
import { newTrace } from '../../kernel/telemetry/trace.ts'
import { reload as reloadOperation } from '../../roles/proxy/allowlist/reload.ts'
import { compileProxyConfig } from '../../roles/proxy/config.ts'
import { TopDenials } from '../../roles/proxy/denial/top-denials.ts'
import { threadCounters } from '../../roles/proxy/metrics.ts'
import {
  type AuditJournal,
  auditJournalPart,
  type DataPlane,
  type DenialStatistics,
  dataPlanePart,
  denialsPart,
  type ProxyReloadResult,
} from '../../roles/proxy/parts.ts'
import type {
  CounterDelta,
  DependencyObservation,
  DependencyObservations,
  ProxyDependency,
} from '../../roles/proxy/serving/thread-report.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { ship } from '../../roles/proxy/workers/ship.ts'
import { localCounters } from './local-counters.ts'
import { performServiceRequest } from './perform-service-request.ts'
import { reloadSettings } from './reload-settings.ts'
import { reloadTls } from './reload-tls.ts'
import { requireFreePort } from './require-free-port.ts'
import { buildThreadConfig, type ProxyThreadConfig } from './thread-config.ts'
import { ThreadSupervisor } from './thread-supervisor.ts'

export type PublicListenerOptions = Pick<
  SiteResources,
  'folder' | 'resolved' | 'clock' | 'random' | 'resolveSettingsAgain'
> & {
  readonly metrics: Metrics
  readonly log: Log
}

/** Opens the journal, with what an earlier process left in it; nothing listens yet. */
export function openPublicListener(
  given: PublicListenerOptions,
): PublicListener & { readonly parts: readonly (readonly [string, unknown])[] } {
  const { folder, resolved, clock } = given
  const dir = join(roleDataFolder(folder, 'proxy'), 'audit')
  const segments = segmentFolder(dir)
  const left = segments.takeUp()
  if (left > 0) given.log.info('proxy.audit.recovered', { segments: left })
  const standing: PublicListenerState = {
    resolved,
    tls: undefined,
    supervisor: undefined,
    threads: 0,
    observations: {},
  }
  const denied: DenialStatistics = { since: new Date(clock.now()).toISOString(), top: new TopDenials(max_denied_kinds) }
  const journal: AuditJournal = {
    ...segments,
    measure: () => measureJournal(given, standing, segments.bytes),
    storesWholeSegments: chooseDocumentsHome(resolved) === 'sqlite',
  }
  const plane: DataPlane = { reload: () => applyReload(given, standing), report: () => reportThreads(standing) }
  return {
    parts: [
      [dataPlanePart.name, plane],
      [auditJournalPart.name, journal],
      [denialsPart.name, denied],
    ],
    health: () => [
      reportThreadsHealth(standing),
      ...dependencies.map((name) => reportDependencyHealth(name, standing, clock.now())),
    ],
    listen: (listening) => startThreads(given, standing, listening, dir, segments.takeUp),
    finish: ship.run,
  }
}

/** Brings what was counted into the metrics by the way. */
const threadWatch = { every_ms: 5_000, hung_ms: 15_000 }

/** Kinds of denials that are told apart. */
const max_denied_kinds = 256

type PublicListenerState = {
  /** What is in force. */
  resolved: ResolvedSettings
  tls: ProxyThreadConfig['tls']
  supervisor: ThreadSupervisor<ProxyThreadConfig> | undefined
  threads: number
  /** By whichever thread asked last. */
  observations: DependencyObservations
}

const dependencies: readonly ProxyDependency[] = ['upstream', 'token endpoint']
const failure_memory_ms = 300_000

function reportThreadsHealth({ supervisor, threads }: PublicListenerState): DependencyHealth {
  const alive = supervisor?.alive ?? 0
  return { name: 'threads', ok: alive >= threads, detail: `${alive} of ${threads} threads`, latency_ms: 0 }
}

function reportDependencyHealth(
  name: ProxyDependency,
  { observations, resolved }: PublicListenerState,
  now: number,
): DependencyHealth {
  if (name === 'upstream' || hasTokenClient(resolved)) return reportLastHealth(name, observations[name], now)
  return { name, ok: false, detail: 'there is no client to ask for a token as', latency_ms: 0 }
}

function hasTokenClient(resolved: ResolvedSettings): boolean {
  const { public_sso_client_id, public_sso_client_secret } = getSettings(resolved, settings)
  return public_sso_client_id !== undefined && public_sso_client_secret !== undefined
}

/**
 * By what callers have brought about: a probe asks nobody, or whoever reaches the port could have requests sent there. What went
 * wrong long ago, and was not tried since, is no longer held against it.
 */
function reportLastHealth(
  name: ProxyDependency,
  last: DependencyObservation | undefined,
  now: number,
): DependencyHealth {
  if (!last) return { name, ok: true, detail: 'not asked yet', latency_ms: 0 }
  const { ok, detail, latency_ms, at } = last
  return {
    name,
    ok: ok || Math.abs(now - at) > failure_memory_ms,
    detail: `${detail}, ${new Date(at).toISOString()}`,
    latency_ms,
  }
}

async function startThreads(
  given: PublicListenerOptions,
  standing: PublicListenerState,
  { listen: where, tls, context }: Parameters<PublicListener['listen']>[0],
  dir: string,
  takeUp: (name: string) => number,
): Promise<HttpServer> {
  const { resolved, clock, log, random, metrics } = given
  const { workers, trusted_networks } = getSettings(resolved, settings)
  if (!('host' in where)) throw new TypeError('the public door is no local socket')
  standing.threads = workers ?? availableParallelism()
  standing.tls = tls
  await requireFreePort(where)
  if (!hasTokenClient(resolved)) {
    log.warn('proxy.token.no_client', {
      remedy: 'set PUBLIC_SSO_CLIENT_ID, and PUBLIC_SSO_CLIENT_SECRET or its _FILE; until then nothing is forwarded',
    })
  }
  if (trusted_networks.length > 0) log.warn('proxy.networks.trusted', { networks: trusted_networks })
  widenYoungSpaceForThreads()
  const began = clock.now().toString(36).padStart(9, '0')
  let threads = 0
  const supervisor = new ThreadSupervisor<ProxyThreadConfig>({
    script: () => findThreadScript('proxy-thread.cjs', new URL('./thread.ts', import.meta.url)),
    threads: standing.threads,
    config: buildThreadConfig(resolved, dir, tls),
    listen: where,
    newName() {
      threads += 1
      return `${began}-${random(4)}-${String(threads).padStart(6, '0')}`
    },
    log,
    counters: localCounters(clock.monotonic, random(16)),
    performServiceRequest: (about) => performServiceRequest(context, about),
    deltas: (added) => addToMetrics(metrics, added),
    observations(asked) {
      standing.observations = { ...standing.observations, ...asked }
    },
    onThreadEnded: (name) => void takeUp(name),
    watch: threadWatch,
  })
  standing.supervisor = supervisor
  const address = await supervisor.start()
  const hungUp = () => void reloadOnSignal(context, log)
  process.on('SIGHUP', hungUp)
  return {
    url: `${tls ? 'https' : 'http'}://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`,
    port: address.port,
    close(drain_ms) {
      process.off('SIGHUP', hungUp)
      return supervisor.drain(drain_ms)
    },
  }
}

/** As `platform proxy reload` does it, and recorded like that. */
async function reloadOnSignal(workshop: RoleContext, log: Log): Promise<void> {
  const { random } = workshop.environment
  const signal = AbortSignal.timeout(30_000)
  const call = createServiceCall(workshop, 'proxy', 'proxy.allowlist.reload', newTrace(random), signal)
  await reloadOperation.run(call, {}).catch((error: unknown) => {
    log.error('proxy.reload.failed', { error: (error as Error).message })
  })
}

const metricsByName = new Map<string, Metric>(threadCounters.map((metric) => [metric.name, metric]))

function addToMetrics(metrics: Metrics, added: readonly CounterDelta[]): void {
  for (const [name, values, by] of added) {
    const metric = metricsByName.get(name)
    if (metric)
      metrics.count(metric, Object.fromEntries(metric.labels.map((label, at) => [label, values[at] ?? ''])), by)
  }
}

async function reportThreads({ supervisor, threads }: PublicListenerState) {
  const found = await supervisor?.report()
  return { threads: supervisor?.alive ?? threads, ...(found ?? { connections: 0, cache_bytes: 0, cache_entries: 0 }) }
}

/** Told to the threads when it changes; logged once for as long as it lasts. */
async function measureJournal(
  { log }: PublicListenerOptions,
  { supervisor, resolved }: PublicListenerState,
  bytesOf: () => Promise<number>,
) {
  const bytes = await bytesOf()
  const { audit_journal_mb } = getSettings(resolved, settings)
  const isFull = bytes > audit_journal_mb * 1_048_576
  if (supervisor?.setJournalFull(isFull)) {
    const remedy = 'bring the store back, or raise proxy.audit_journal_mb'
    if (isFull) log.error('proxy.audit.full', { bytes, remedy })
    else log.info('proxy.audit.room', { bytes })
  }
  return bytes
}

/** All is judged before anything is gone by. */
async function checkReload(
  { resolveSettingsAgain, clock }: PublicListenerOptions,
  { resolved, tls: running }: PublicListenerState,
) {
  const found = await reloadSettings(resolved, resolveSettingsAgain)
  if (isRefusal(found)) return found
  const tls = reloadTls(running, found.resolved, clock.now())
  return isRefusal(tls) ? tls : { ...found, tls }
}

async function applyReload(
  given: PublicListenerOptions,
  standing: PublicListenerState,
): Promise<ProxyReloadResult | Refusal> {
  const { log } = given
  const found = await checkReload(given, standing)
  if (isRefusal(found)) {
    log.error('proxy.reload.refused', { errors: found.errors })
    return found
  }
  const { resolved: inForce, needs_restart, tls } = found
  const files = tls === standing.tls ? [] : ['proxy.tls_cert_file', 'proxy.tls_key_file']
  const applied = [...new Set([...found.applied, ...files])].sort()
  const proxy = getSettings(inForce, settings)
  if (applied.length > 0) await standing.supervisor?.reconfigure((config) => ({ ...config, proxy, tls }))
  standing.resolved = inForce
  standing.tls = tls
  const done = { applied, needs_restart, rules: compileProxyConfig(proxy).rules.length }
  log.info('proxy.reload.done', done)
  return done
}
