// A guidance layer over a real store without a site: its calls are fixed in time, and its store may be killed at any write.
import * as z from 'zod'

import type { Caller } from '../../../../daemon/kernel/identity/identity.ts'
import type { Call } from '../../../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../../../daemon/kernel/store/scoped-store.ts'
import type { Store, StoreWrite } from '../../../../daemon/kernel/store/store.ts'
import { GraphBook } from '../../../../daemon/roles/gateway/guide/graph/graph-book.ts'
import { graphHeads } from '../../../../daemon/roles/gateway/guide/graph/head-model.ts'
import { graphEdges, graphNodes } from '../../../../daemon/roles/gateway/guide/graph/model.ts'
import { graphSnapshots } from '../../../../daemon/roles/gateway/guide/graph/snapshot-model.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import {
  learnerPart,
  type ObserverParts,
  observerPart,
} from '../../../../daemon/roles/gateway/guide/observation/parts.ts'
import { ObservationQueue } from '../../../../daemon/roles/gateway/guide/observation/queue.ts'
import { type PendingObservation, stampObservation } from '../../../../daemon/roles/gateway/guide/observation/rules.ts'
import { guideSettings } from '../../../../daemon/roles/gateway/guide/settings.ts'
import { serviceToolsPart } from '../../../../daemon/roles/gateway/service-tool/parts.ts'
import { noon } from '../../../support/clock/simulated-clock.ts'
import { openTemporaryStore } from '../../../support/store/open-temporary-store.ts'

export const guideCollections = [observations, graphNodes, graphEdges, graphHeads, graphSnapshots]

export function openGuideStore(): Store {
  return openTemporaryStore(...guideCollections).store
}

const service: Caller = {
  ...{ subject: 'role:gateway', tenant_id: '*', roles: [], permissions: new Set<string>(), clearance: undefined },
}
const labels = { policy: 'SITE', levels: ['LOW', 'HIGH'] }

/** One process of the gateway: it has memory of its own, and its calls are those of its workers. */
export function startGuide(store: Store, given: { now?: () => number; settings?: object } = {}) {
  const observer: ObserverParts = {
    ...{ attempt: `process-${Math.random()}`, tasks: [], queue: new ObservationQueue(100), book: new GraphBook() },
    ...{
      deadLetters: undefined,
      principals: new Set<string>(),
      instants: { at: 0, count: 0, second: -1, text: '' },
      seenTraces: new WeakSet(),
    },
    stored: { observations: 0, repeats: 0, invalid: 0, failed: 0, last_batch_ms: 0 },
    done: { snapshot_slot: -1, maintenance_round: -1 },
  }
  const parts = new Map<string, unknown>([
    [observerPart.name, observer],
    [learnerPart.name, { learner: undefined }],
    [serviceToolsPart.name, { own: new Map([['maps', new Set()]]), states: new Map() }],
  ])
  const settings = { ...z.object(guideSettings.shape).parse({}), ...given.settings }
  const call = {
    ...{ caller: service, site: { tenant_id: 'alpha', labels }, signal: new AbortController().signal },
    ...{ now: given.now ?? (() => noon), monotonic: () => performance.now(), random: () => '00' },
    ...{ pause: async () => undefined, wait: async () => undefined, count: () => undefined, set: () => undefined },
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    part: ({ name }: { name: string }) => parts.get(name),
    settings: () => settings,
    store: (collection: never) =>
      scopedStore(store, collection, { caller: service, labels, if_match: undefined, onRefusal: () => undefined }),
  } as unknown as Call
  return { call, book: observer.book, observer }
}

/** Thrown instead of a write and by everything after it: as for a process that was killed. */
export class KilledProcess extends Error {}

/** The store of a process that is killed at its write number `at`; `isWritten`: after it, and before its answer. */
export function killAt(store: Store, at: number, isWritten: boolean): { store: Store; writes: () => number } {
  let writes = 0
  const spend = async (only: () => Promise<unknown>) => {
    if (writes >= at) throw new KilledProcess()
    writes += 1
    if (writes < at) return only()
    if (isWritten) await only()
    throw new KilledProcess()
  }
  const killed = new Proxy(store, {
    get(of, name) {
      const method = Reflect.get(of, name) as unknown
      if (typeof method !== 'function') return method
      if (name === 'bulk')
        return async (all: readonly StoreWrite[]) => {
          const outcomes: unknown[] = []
          if (writes + all.length < at) {
            writes += all.length
            return of.bulk(all)
          }
          for (const one of all) outcomes.push(...((await spend(() => of.bulk([one]))) as unknown[]))
          return outcomes
        }
      const isWrite = ['create', 'put', 'update', 'remove'].includes(String(name))
      return (...args: unknown[]) => {
        const perform = () => Reflect.apply(method, of, args) as Promise<unknown>
        if (isWrite) return spend(perform)
        return writes >= at ? Promise.reject(new KilledProcess()) : perform()
      }
    },
  })
  return { store: killed, writes: () => writes }
}

const hex = (value: number) => value.toString(16).padStart(32, '0')

/** An observation as an emitter outside the gateway sends it, so that a repeat is found. */
export function buildEvent(
  at: number,
  event_type: PendingObservation['event_type'],
  payload: Record<string, unknown>,
  of: { trace?: number; conversation?: string; service?: string; tenant?: string; now?: number } = {},
): PendingObservation {
  const { trace = 1, conversation = '', service: by = 'gateway', tenant = 'alpha', now = noon } = of
  return stampObservation(
    {
      ...{ tenant_id: tenant, label: undefined, event_type, trace_id: hex(trace), parent_trace_id: null },
      ...{ conversation_id: conversation, service: by, timestamp: new Date(noon + at).toISOString(), payload },
      caller_identity: { username: 'ann', roles: [] },
      emitted_by: { token_subject: 'ann', token_roles: [], context: 'http' },
    },
    now,
    new Set(),
  )
}

/** Turns of conversations with tools that succeed and fail, and feedback on them: some five events each. */
export function buildTurns(count: number, from = 1): PendingObservation[] {
  return Array.from({ length: count }, (_, index) => {
    const turn = index + from
    const at = turn * 1_000
    const of = { trace: turn, conversation: `c${turn % 3}` }
    const isGood = turn % 4 !== 0
    const prompt = turn % 2 ? 'list the ships' : 'create a map?'
    return [
      buildEvent(at, 'user_prompt', { prompt }, of),
      buildEvent(at + 1, isGood ? 'tool_output' : 'tool_error', { tool: `t${turn % 3}` }, { ...of, service: 'maps' }),
      buildEvent(at + 2, 'final_response', { outcome: 'success' }, of),
      buildEvent(at + 3, 'user_feedback', { kind: isGood ? 'up' : 'down' }, of),
    ]
  }).flat()
}

/** Every node and edge of the store by id, without the version of the document. */
export async function readGraphs(store: Store): Promise<Record<string, unknown>> {
  const nodes = await store.list(graphNodes, { limit: 500, fresh: true })
  const edges = await store.list(graphEdges, { limit: 500, fresh: true })
  return Object.fromEntries([...nodes.docs, ...edges.docs].map(({ id, value }) => [id, value]))
}

/** The same of the copy in memory, with versions where `store` is asked for them too. */
export function copyOf({ nodes, edges }: GraphBook): Record<string, unknown> {
  return Object.fromEntries([...nodes.values(), ...edges.values()].map(({ id, value }) => [id, value]))
}
