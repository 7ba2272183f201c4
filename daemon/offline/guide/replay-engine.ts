// The guidance layer over a store of its own, in simulated time: the operations and workers of the gateway, without a daemon or network.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import { announcementBus } from '../../boot/announcement-bus.ts'
import { buildRoleEnvironment } from '../../boot/role-environment.ts'
import type { Caller } from '../../kernel/identity/identity.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { createCallFor, createServiceCall } from '../../kernel/operation/perform-operation.ts'
import type { RoleContext } from '../../kernel/operation/role-context.ts'
import type { Site } from '../../kernel/role/site.ts'
import { resolveSettings } from '../../kernel/settings/settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import type { Store } from '../../kernel/store/store.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import { newTrace } from '../../kernel/telemetry/trace.ts'
import { chatPart } from '../../roles/gateway/chat/parts.ts'
import { guideModelPart } from '../../roles/gateway/guide/chat/parts.ts'
import { guideCollections } from '../../roles/gateway/guide/declaration.ts'
import { ArtifactFollowing } from '../../roles/gateway/guide/guidance/follow-changes.ts'
import { storePending } from '../../roles/gateway/guide/observation/ingest-batch.ts'
import type { PendingObservation } from '../../roles/gateway/guide/observation/rules.ts'
import { guideSettings } from '../../roles/gateway/guide/settings.ts'
import { serviceToolsPart } from '../../roles/gateway/service-tool/parts.ts'
import { settings as gatewaySettings } from '../../roles/gateway/settings.ts'
import { learnGuidance } from '../../roles/gateway/workers/learn-guidance.ts'
import { writeLineage } from '../../roles/gateway/workers/write-lineage.ts'
import { openGuide } from '../../runtime/gateway/open-guide.ts'

export type ReplaySite = {
  readonly tenant_id: string
  readonly labels: Site['labels']
  /** Fields of the section `guide`, instead of the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

/** A permission that every caller of a replay has: recorded observations do not say which tools a caller was offered. */
const tool_permission = 'replay:use'
const batch_size = 1_000
/** As many as a graph has nodes: guidance about further tools is not attached. */
const max_tools = 2_000
const max_tool_name = 256
const address = 'gateway.guide.replay'

export class GuideReplay {
  /** Simulated time; it never goes back. */
  now_ms = 0
  /** Events that the layer has logged as warnings, by name. */
  readonly warnings = new Map<string, number>()
  readonly #site: ReplaySite
  readonly #context: RoleContext
  readonly #following: ArtifactFollowing
  readonly #close: () => Promise<void>
  readonly #signal: AbortSignal
  #catalogue: readonly object[] = []
  readonly #tools = new Set<string>()
  readonly #services = new Map<string, object>()
  #pending: PendingObservation[] = []
  #drawn = 0

  constructor(site: ReplaySite) {
    this.#site = site
    this.#signal = site.signal ?? new AbortController().signal
    const { store, close } = openStore()
    this.#close = close
    this.#context = this.#buildContext(store)
    this.#following = new ArtifactFollowing(this.worker())
  }

  /** The call of a worker of the gateway. */
  worker(): Call {
    return createServiceCall(this.#context, 'gateway', address, newTrace(this.#random), this.#signal)
  }

  /** The call of a request in this trace. */
  request(trace_id: string, caller: Pick<Caller, 'subject' | 'clearance'>): Call {
    const { tenant_id } = this.#site
    const whole: Caller = { ...caller, tenant_id, roles: ['analyst'], permissions: new Set([tool_permission]) }
    return createCallFor(this.#context, whole, address, { ...newTrace(this.#random), trace_id }, this.#signal)
  }

  /** From now on the tool, `<service>/<tool>`, is offered to every caller. */
  offer(tool: string): void {
    if (this.#tools.has(tool) || this.#tools.size >= max_tools || tool.length > max_tool_name) return
    this.#tools.add(tool)
    this.#services.set(tool.slice(0, tool.indexOf('/')), {})
    this.#catalogue = [...this.#tools].map((name) => {
      return { address, operation: { tool: name.replace('/', '__'), allow: tool_permission } }
    })
  }

  async observe(observation: PendingObservation): Promise<void> {
    this.#pending.push(observation)
    if (this.#pending.length >= batch_size) await this.store()
  }

  /** Stores what was observed, and applies it to the graphs. */
  async store(): Promise<void> {
    const taken = this.#pending
    this.#pending = []
    if (taken.length > 0) await storePending(this.worker(), taken)
  }

  /** What the workers of a gateway do once a second: everything that is due. */
  async work(): Promise<void> {
    await this.store()
    await writeLineage.run(this.worker())
    await learnGuidance.run(this.worker())
    await this.#following.look()
  }

  /** Removes what has expired, as the gateway does each minute. */
  async expire(): Promise<void> {
    for (const each of guideCollections) await this.#context.store.expire(each, this.now_ms)
  }

  async close(): Promise<void> {
    await this.#close()
  }

  /** The same numbers in each run. */
  readonly #random = (bytes: number): string => {
    this.#drawn += 1
    return createHash('sha512')
      .update(`replay ${this.#drawn}`)
      .digest('hex')
      .slice(0, bytes * 2)
  }

  #buildContext(store: Store): RoleContext {
    const { tenant_id, labels, settings = {} } = this.#site
    const [default_level = ''] = labels.levels
    const site: Site = { name: 'replay', tenant_id, labels, default_level, deployment_profile: 'classified_airgapped' }
    const resolved = resolveSettings([guideSettings, ssoSettings, gatewaySettings], {
      ...{ profile: { guide: settings }, env: {}, flags: {} },
      resolvePath: (path) => path,
      readSecret: () => '',
      needsSecrets: () => false,
    })
    const random = this.#random
    const ignore = () => undefined
    const environment = buildRoleEnvironment({
      ...{ role: 'gateway', site, settings: resolved, random, log: this.#buildLog(), bus: announcementBus() },
      metrics: { count: ignore, set: ignore, observe: ignore, text: async () => '' },
      now: () => this.now_ms,
      monotonic: () => performance.now(),
      wake: ignore,
      parts: new Map<string, unknown>([
        ...openGuide({ resolved, random, site }),
        [chatPart.name, { model: undefined, tools: () => this.#catalogue }],
        [guideModelPart.name, { own: undefined }],
        [serviceToolsPart.name, { own: new Map(), states: this.#services }],
      ]),
    })
    const unused = { operations: [], roles: () => ({}), record: async () => undefined }
    // Nothing here requests another role, acts for a principal or admits a caller.
    return { environment, store, ...unused } as unknown as RoleContext
  }

  #buildLog(): Log {
    const ignore = () => undefined
    const note = (event: string) => void this.warnings.set(event, (this.warnings.get(event) ?? 0) + 1)
    return { debug: ignore, info: ignore, warn: note, error: note }
  }
}

function openStore() {
  const folder = mkdtempSync(join(tmpdir(), 'platform-replay-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const file = sqliteFile({ file: join(folder, 'replay.db'), addonDir: folder })
    // The file goes with the process: nothing needs to be durable.
    file.db.pragma('synchronous = OFF')
    file.db.pragma('secure_delete = OFF')
    const audit = sqliteAudit(file, 'guide@replay')
    const store = sqliteStore(file, { audit, collections: guideCollections })
    const close = async () => {
      await file.close()
      remove()
    }
    return { store, close }
  } catch (error) {
    remove()
    throw error
  }
}
