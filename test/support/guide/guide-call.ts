// Calls of the guidance layer on a store, without a site: of a worker, or of an administrator.
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { ChatModel } from '../../../daemon/kernel/model/chat-model.ts'
import type { EmbeddingModel } from '../../../daemon/kernel/model/embedding-model.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { createCallFor, createServiceCall } from '../../../daemon/kernel/operation/perform-operation.ts'
import type { RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { guideModelPart } from '../../../daemon/roles/gateway/guide/chat/parts.ts'
import { embedLocally, local_model_name } from '../../../daemon/roles/gateway/guide/embedding/embed-locally.ts'
import { guideSettings } from '../../../daemon/roles/gateway/guide/settings.ts'
import { synthesisPart } from '../../../daemon/roles/gateway/guide/synthesis/parts.ts'
import { SynthesisQueue } from '../../../daemon/roles/gateway/guide/synthesis/synthesis-queue.ts'
import { sampleTrace } from '../trace/sample-trace.ts'

export const guideLabels = { policy: 'SITE', levels: ['UNCLASSIFIED', 'SECRET', 'TOP_SECRET'] }
export const localEmbedder: EmbeddingModel = { name: local_model_name, embed: async ({ text }) => embedLocally(text) }

export type GuideCallOptions = {
  readonly store: Store
  readonly now: () => number
  readonly random: (bytes: number) => string
  /** Instead of the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly embedder?: EmbeddingModel
  /** Of the layer; default: none. */
  readonly model?: ChatModel
  /** Requests to it in an hour. */
  readonly budget?: number
  readonly monotonic?: () => number
  readonly pause?: () => Promise<void>
  readonly onEvent?: (event: string) => void
  /** Default: a worker of the gateway. */
  readonly caller?: Caller
}

export function adminCaller(tenant_id: string, level = 'TOP_SECRET', subject = 'ada'): Caller {
  const clearance = { level, categories: [] }
  return { subject, tenant_id, roles: ['admin'], permissions: new Set(['*']), clearance }
}

export function createGuideCall(options: GuideCallOptions): Call {
  const context = { environment: buildEnvironment(options), store: options.store } as Partial<RoleContext>
  const signal = new AbortController().signal
  const whole = { ...context, roles: () => ({}), record: async () => undefined } as unknown as RoleContext
  return options.caller
    ? createCallFor(whole, options.caller, 'gateway.guide.test', sampleTrace, signal)
    : createServiceCall(whole, 'gateway', 'gateway.guide.test', sampleTrace, signal)
}

function buildEnvironment(options: GuideCallOptions): RoleEnvironment {
  const { now, random, settings = {}, embedder = localEmbedder, onEvent = () => undefined } = options
  const { monotonic = () => performance.now(), pause = async () => undefined, model, budget = 100 } = options
  const parts = new Map<string, unknown>([
    [guideModelPart.name, { own: model && { model, name: 'own' } }],
    [synthesisPart.name, new SynthesisQueue(budget)],
  ])
  const values = { ...Object.fromEntries(defaultSettings()), ...settings }
  const ignore = () => undefined
  const environment: Partial<RoleEnvironment> = {
    site: { tenant_id: 'alpha', labels: guideLabels } as unknown as RoleEnvironment['site'],
    log: { debug: onEvent, info: onEvent, warn: onEvent, error: onEvent },
    ...{
      now,
      monotonic,
      random,
      pause,
      wait: waitForever,
      announce: ignore,
      wake: ignore,
      count: ignore,
      set: ignore,
      observe: ignore,
    },
    settings: () => values as never,
    part: ({ name }) => (parts.get(name) ?? embedder) as never,
  }
  return environment as RoleEnvironment
}

/** Until the signal: time limits are those of sites. */
const waitForever = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

function defaultSettings(): [string, unknown][] {
  return Object.entries(guideSettings.shape).map(([name, field]) => [
    name,
    (field as { safeParse(value: unknown): { data?: unknown } }).safeParse(undefined).data,
  ])
}
