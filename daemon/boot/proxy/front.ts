// The public door of the proxy role, in place of a listener of operations: its threads, its journal, and its configuration.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { segmentFolder } from '../../../adapters/audit/segments/segment-folder.ts'
import type { HttpServer } from '../../../adapters/serve/http/serve-http.ts'
import type { DependencyHealth } from '../../kernel/builtin.ts'
import type { Log } from '../../kernel/call.ts'
import { isRefused, type Refused } from '../../kernel/errors.ts'
import { serviceCall, type Workshop } from '../../kernel/invoke.ts'
import type { Metric, Metrics } from '../../kernel/metrics.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { newTrace } from '../../kernel/trace.ts'
import { reload as reloadOperation } from '../../roles/proxy/allowlist/reload.ts'
import { configOf } from '../../roles/proxy/config.ts'
import { TopDenied } from '../../roles/proxy/denial/top.ts'
import { countedInThreads } from '../../roles/proxy/metrics.ts'
import {
  type AuditJournal,
  auditJournalPart,
  type Denied,
  deniedPart,
  type Plane,
  planePart,
  type Reloaded,
} from '../../roles/proxy/parts.ts'
import { ship } from '../../roles/proxy/record/ship.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { wantedHome } from '../documents.ts'
import { makeRoomForServing } from '../heap-growth.ts'
import { valuesOf } from '../profile.ts'
import type { Front } from '../service.ts'
import type { Shared } from '../shared.ts'
import { dataOf } from '../site-folder.ts'
import { threadScript } from '../thread-script.ts'
import { freePort } from './free-port.ts'
import type { Added, AllLastAsked, Dependency, LastAsked } from './messages.ts'
import { nearCounters } from './near-counters.ts'
import { renewed } from './reload.ts'
import { renewedTls } from './renewed-tls.ts'
import { Supervisor } from './supervisor.ts'
import { type ThreadConfig, threadConfig } from './thread-config.ts'
import { told } from './told.ts'

export type FrontMaterials = Pick<Shared, 'folder' | 'resolved' | 'clock' | 'random' | 'resettle'> & {
  readonly metrics: Metrics
  readonly log: Log
}

/** Opens the journal, with what an earlier process left in it; nothing listens yet. */
export function publicFront(
  given: FrontMaterials,
): Front & { readonly parts: readonly (readonly [string, unknown])[] } {
  const { folder, resolved, clock } = given
  const dir = join(dataOf(folder, 'proxy'), 'audit')
  const segments = segmentFolder(dir)
  const left = segments.takeUp()
  if (left > 0) given.log.info('proxy.audit.recovered', { segments: left })
  const standing: Standing = { resolved, tls: undefined, supervisor: undefined, threads: 0, asked: {} }
  const denied: Denied = { since: new Date(clock.now()).toISOString(), top: new TopDenied(most_denied) }
  const journal: AuditJournal = {
    ...segments,
    measure: () => measure(given, standing, segments.bytes),
    isKeptWhole: wantedHome(resolved) === 'sqlite',
  }
  const plane: Plane = { reload: () => reload(given, standing), report: () => report(standing) }
  return {
    parts: [
      [planePart.name, plane],
      [auditJournalPart.name, journal],
      [deniedPart.name, denied],
    ],
    health: () => [threadsHealth(standing), ...dependencies.map((name) => healthOf(name, standing, clock.now()))],
    listen: (listening) => listen(given, standing, listening, dir, segments.takeUp),
    last: ship.run,
  }
}

/** Brings what was counted into the metrics by the way. */
const watch = { every_ms: 5_000, hung_ms: 15_000 }

/** Kinds of denials that are told apart. */
const most_denied = 256

type Standing = {
  /** What is in force. */
  resolved: Resolved
  tls: ThreadConfig['tls']
  supervisor: Supervisor<ThreadConfig> | undefined
  threads: number
  /** By whichever thread asked last. */
  asked: AllLastAsked
}

const dependencies: readonly Dependency[] = ['upstream', 'token endpoint']
const forgiven_ms = 300_000

function threadsHealth({ supervisor, threads }: Standing): DependencyHealth {
  const alive = supervisor?.alive ?? 0
  return { name: 'threads', ok: alive >= threads, detail: `${alive} of ${threads} threads`, latency_ms: 0 }
}

function healthOf(name: Dependency, { asked, resolved }: Standing, now: number): DependencyHealth {
  if (name === 'upstream' || hasClient(resolved)) return lastHealth(name, asked[name], now)
  return { name, ok: false, detail: 'there is no client to ask for a token as', latency_ms: 0 }
}

function hasClient(resolved: Resolved): boolean {
  const { public_sso_client_id, public_sso_client_secret } = valuesOf(resolved, settings)
  return public_sso_client_id !== undefined && public_sso_client_secret !== undefined
}

/**
 * By what callers have brought about: a probe asks nobody, or whoever reaches the port could have requests sent there. What went
 * wrong long ago, and was not tried since, is no longer held against it.
 */
function lastHealth(name: Dependency, last: LastAsked | undefined, now: number): DependencyHealth {
  if (!last) return { name, ok: true, detail: 'not asked yet', latency_ms: 0 }
  const { ok, detail, latency_ms, at } = last
  return {
    name,
    ok: ok || Math.abs(now - at) > forgiven_ms,
    detail: `${detail}, ${new Date(at).toISOString()}`,
    latency_ms,
  }
}

async function listen(
  given: FrontMaterials,
  standing: Standing,
  { listen: where, tls, workshop }: Parameters<Front['listen']>[0],
  dir: string,
  takeUp: (name: string) => number,
): Promise<HttpServer> {
  const { resolved, clock, log, random, metrics } = given
  const { workers, trusted_networks } = valuesOf(resolved, settings)
  if (!('host' in where)) throw new TypeError('the public door is no local socket')
  standing.threads = workers ?? availableParallelism()
  standing.tls = tls
  await freePort(where)
  if (!hasClient(resolved)) {
    log.warn('proxy.token.no_client', {
      remedy: 'set PUBLIC_SSO_CLIENT_ID, and PUBLIC_SSO_CLIENT_SECRET or its _FILE; until then nothing is forwarded',
    })
  }
  if (trusted_networks.length > 0) log.warn('proxy.networks.trusted', { networks: trusted_networks })
  makeRoomForServing()
  const began = clock.now().toString(36).padStart(9, '0')
  let threads = 0
  const supervisor = new Supervisor<ThreadConfig>({
    script: () => threadScript('proxy-thread.cjs', new URL('./thread.ts', import.meta.url)),
    threads: standing.threads,
    config: threadConfig(resolved, dir, tls),
    listen: where,
    newName() {
      threads += 1
      return `${began}-${random(4)}-${String(threads).padStart(6, '0')}`
    },
    log,
    counters: nearCounters(clock.monotonic, random(16)),
    tell: (about) => told(workshop, about),
    added: (added) => addTo(metrics, added),
    asked(asked) {
      standing.asked = { ...standing.asked, ...asked }
    },
    ended: (name) => void takeUp(name),
    watch,
  })
  standing.supervisor = supervisor
  const address = await supervisor.start()
  const hungUp = () => void reloadByHand(workshop, log)
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
async function reloadByHand(workshop: Workshop, log: Log): Promise<void> {
  const { random } = workshop.surroundings
  const signal = AbortSignal.timeout(30_000)
  const call = serviceCall(workshop, 'proxy', 'proxy.allowlist.reload', newTrace(random), signal)
  await reloadOperation.run(call, {}).catch((error: unknown) => {
    log.error('proxy.reload.failed', { error: (error as Error).message })
  })
}

const byName = new Map<string, Metric>(countedInThreads.map((metric) => [metric.name, metric]))

function addTo(metrics: Metrics, added: readonly Added[]): void {
  for (const [name, values, by] of added) {
    const metric = byName.get(name)
    if (metric)
      metrics.count(metric, Object.fromEntries(metric.labels.map((label, at) => [label, values[at] ?? ''])), by)
  }
}

async function report({ supervisor, threads }: Standing) {
  const found = await supervisor?.report()
  return { threads: supervisor?.alive ?? threads, ...(found ?? { connections: 0, cache_bytes: 0, cache_entries: 0 }) }
}

/** Told to the threads when it changes; logged once for as long as it lasts. */
async function measure({ log }: FrontMaterials, { supervisor, resolved }: Standing, bytesOf: () => Promise<number>) {
  const bytes = await bytesOf()
  const { audit_journal_mb } = valuesOf(resolved, settings)
  const isFull = bytes > audit_journal_mb * 1_048_576
  if (supervisor?.journal(isFull)) {
    const remedy = 'bring the store back, or raise proxy.audit_journal_mb'
    if (isFull) log.error('proxy.audit.full', { bytes, remedy })
    else log.info('proxy.audit.room', { bytes })
  }
  return bytes
}

/** All is judged before anything is gone by. */
async function judged({ resettle, clock }: FrontMaterials, { resolved, tls: running }: Standing) {
  const found = await renewed(resolved, resettle)
  if (isRefused(found)) return found
  const tls = renewedTls(running, found.inForce, clock.now())
  return isRefused(tls) ? tls : { ...found, tls }
}

async function reload(given: FrontMaterials, standing: Standing): Promise<Reloaded | Refused> {
  const { log } = given
  const found = await judged(given, standing)
  if (isRefused(found)) {
    log.error('proxy.reload.refused', { errors: found.errors })
    return found
  }
  const { inForce, needs_restart, tls } = found
  const files = tls === standing.tls ? [] : ['proxy.tls_cert_file', 'proxy.tls_key_file']
  const applied = [...new Set([...found.applied, ...files])].sort()
  const proxy = valuesOf(inForce, settings)
  if (applied.length > 0) await standing.supervisor?.reconfigure((config) => ({ ...config, proxy, tls }))
  standing.resolved = inForce
  standing.tls = tls
  const done = { applied, needs_restart, rules: configOf(proxy).rules.length }
  log.info('proxy.reload.done', done)
  return done
}
