// Properties of decision graphs on every store: each observation once, whatever is killed, and snapshots that bring a graph back.
import { expect } from 'vitest'
import type { Store } from '../../../../daemon/kernel/store/store.ts'
import { takeSnapshot } from '../../../../daemon/roles/gateway/guide/graph/graph-snapshots.ts'
import { openTurn, performWork } from '../../../../daemon/roles/gateway/guide/graph/turn.ts'
import { storePending } from '../../../../daemon/roles/gateway/guide/observation/ingest-batch.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { buildEvent, buildTurns, copyOf, KilledProcess, killAt, readGraphs, startGuide } from './graph-world.ts'

/** An empty store each time. */
type StoreOpener = () => Store | Promise<Store>

/** An effect that is made in one batch, and whose outcomes are seen in later ones. */
const ofEffect = (at: number, tool: string, inputs: object, outputs: object) =>
  buildEvent(at, 'tool_output', { tool, inputs, outputs }, { trace: 1, service: 'pipeline-service' })
const operators = (...names: string[]) => names.map((name) => ({ name, params: {} }))
const run = (dag_run_id: string, state: string) => ({ dag_run_id, state, dag_id: 'effect__e' })
const begin = ofEffect(1_500, 'effect_create', { operators: operators('ingest_file', 'write') }, { uid: 'e' })
const ended = (at: number, last_run: object) =>
  ofEffect(at, 'effect_status', { uid: 'e' }, { status: 'active', last_run })
const change = ofEffect(7_700, 'effect_update', { uid: 'e', operators: operators('ingest_http') }, { uid: 'e' })
export const batches = [
  [...buildTurns(3), begin],
  [...buildTurns(3, 4), ended(4_500, run('r1', 'success')), ended(4_600, run('r1', 'success'))],
  [...buildTurns(4, 7), ended(7_500, run('r2', 'failed')), change, ended(8_500, run('r3', 'success'))],
]

async function ingestAll(store: Store): Promise<void> {
  const { call } = startGuide(store)
  for (const batch of batches) await storePending(call, batch)
}

/** Kills the process at a write; the next process is sent everything again, as an emitter does that has no answer. */
async function ingestWithKill(open: StoreOpener, at: number, isWritten: boolean): Promise<Store> {
  const store = await open()
  const killed = killAt(store, at, isWritten)
  await expect(ingestAll(killed.store)).rejects.toThrow(KilledProcess)
  await ingestAll(store)
  return store
}

export async function ingestWithout(open: StoreOpener) {
  const store = await open()
  const counted = killAt(store, Number.POSITIVE_INFINITY, false)
  await ingestAll(counted.store)
  return { graphs: await readGraphs(store), stored: await countFresh(store), writes: counted.writes() }
}

const countFresh = async (store: Store) => (await store.list(observations, { limit: 500, fresh: true })).docs.length

/** `step`: between the writes that are tried. */
export async function checkKills(open: StoreOpener, step: number): Promise<void> {
  const { graphs, stored, writes } = await ingestWithout(open)
  expect([stored, Object.keys(graphs).length > 60, writes > 180]).toEqual([46, true, true])
  for (let at = 1; at <= writes; at += step)
    for (const isWritten of [false, true]) {
      const store = await ingestWithKill(open, at, isWritten)
      expect(await countFresh(store), `write ${at}`).toBe(stored)
      expect(await readGraphs(store), `write ${at}`).toEqual(graphs)
    }
}

export async function checkCopies(store: Store): Promise<void> {
  const first = startGuide(store)
  for (const batch of batches) await storePending(first.call, batch)
  const second = startGuide(store)
  await second.book.catchUp(second.call, batches.length)
  const stored = await readGraphs(store)
  expect(copyOf(first.book)).toEqual(stored)
  expect(copyOf(second.book)).toEqual(stored)
}

const scope = { tenant_id: 'alpha', label: undefined }
const graph_id = 'outcome_graph'

export async function checkRollback(open: StoreOpener, step: number): Promise<void> {
  for (let at = 1, isKilled = true; isKilled; at += step) {
    const { store, snapshot_id, before } = await takeAndGoOn(open)
    const killed = killAt(store, at, at % 2 === 0)
    isKilled = await rollBack(killed.store, snapshot_id).then(
      () => false,
      (error) => {
        expect(error).toBeInstanceOf(KilledProcess)
        return true
      },
    )
    // The process after it finishes what was begun; where nothing was, the administrator tries again.
    await rollBack(store, snapshot_id)
    expect(await readGraph(store), `write ${at}`).toEqual(before)
    const { book, call } = startGuide(store)
    await openTurn(call, { book, attempt: 'next', concurrency: 1 })
    expect(copyOf(book), `write ${at}`).toEqual(await readGraphs(store))
  }
}

async function takeAndGoOn(open: StoreOpener) {
  const store = await open()
  const { call, book } = startGuide(store)
  await storePending(call, batches[0] ?? [])
  const before = await readGraph(store)
  const snapshot_id = await takeSnapshot(call, book, scope, graph_id, 'a')
  await storePending(call, batches[1] ?? [])
  expect(await readGraph(store)).not.toEqual(before)
  return { store, before, snapshot_id: snapshot_id ?? '' }
}

async function rollBack(store: Store, snapshot_id: string): Promise<void> {
  const { call, book } = startGuide(store)
  const terms = { book, attempt: `attempt of ${snapshot_id}`, concurrency: 1 }
  const head = await openTurn(call, terms)
  await performWork(call, terms, head, { kind: 'rollback', scope, graph_id, snapshot_id })
}

/** Without the batch that each document was changed in: a rollback is one of its own. */
async function readGraph(store: Store): Promise<Record<string, unknown>> {
  const all = Object.entries(await readGraphs(store)) as [string, { graph_id: string }][]
  return Object.fromEntries(
    all
      .filter(([, value]) => value.graph_id === graph_id)
      .map(([id, value]) => [id, { ...value, applied_seq: 0, update_ts: 0 }]),
  )
}
