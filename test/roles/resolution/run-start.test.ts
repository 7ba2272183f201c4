// Starts of runs of one tenant beside each other, while role `site` hangs or a caller has left.
import { expect, test } from 'vitest'
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import { createCallFor } from '../../../daemon/kernel/operation/perform-operation.ts'
import type { RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { openRun, runInput } from '../../../daemon/roles/resolution/fusion-run/open-run.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import { lenses } from '../../../daemon/roles/resolution/lens/stored-lens.ts'
import { queueByTenant } from '../../../daemon/runtime/resolution/queue-by-tenant.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import { buildPeople, buildPersonLens } from './resolution-site.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' }
const labels = { policy: 'SITE', levels: ['UNCLASSIFIED'] }
const input = runInput.parse({ lens_id: 'lens_1', node_data: { east: buildPeople(0, 5) } })

type Hooks = {
  /** Resolves once role `site` has sealed a grant of the subject. */
  readonly seal?: (subject: string) => Promise<void>
  /** Resolves once the records of a run are on the disk. */
  readonly keep?: (run: string) => Promise<void>
}

async function openStarts({ seal = async () => undefined, keep = async () => undefined }: Hooks) {
  const { store } = openTemporaryStore(fusionRuns, lenses)
  const named = { lens: 'people', lens_version: '1.0.0', entity_type: 'person', digest: 'd' }
  const body = lens.parse(buildPersonLens())
  await store.create(lenses, 'lens_1', { tenant_id: 'alpha', label, created_by: 'ann', created_at: at, ...named, body })
  let drawn = 0
  const work = {
    runInTurn: queueByTenant(),
    async storeRecords(run: string) {
      await keep(run)
      return { release: () => undefined }
    },
  }
  const environment = {
    ...{
      site: { name: 'alpha', tenant_id: 'alpha', labels, default_level: 'UNCLASSIFIED' },
      now: () => Date.parse(at),
    },
    ...{ announce: () => undefined, wake: () => undefined, count: () => undefined, pause: async () => undefined },
    settings: () => ({ runs_per_tenant: 10, runs_per_principal: 10, inline_records: 100 }),
    random: (bytes: number) => (++drawn).toString(16).padStart(2 * bytes, '0'),
    part: () => work,
  }
  const start = (subject: string, signal = new AbortController().signal) => {
    const caller = { subject, tenant_id: 'alpha', permissions: [], clearance: { level: 'UNCLASSIFIED' } }
    const context = {
      ...{ environment, store, roles: () => ({}) },
      delegation: () => ({
        async store() {
          await seal(subject)
          return { subject, tenant_id: 'alpha', roles: [], grant: 'sealed' }
        },
      }),
    }
    const given = [context as unknown as RoleContext, caller as unknown as Caller] as const
    return openRun(createCallFor(...given, 'resolution.fusion-run.start', sampleTrace, signal), 'completed', input)
  }
  const listOwners = async () => [...(await store.countBy(fusionRuns, 'created_by')).keys()]
  return { start, listOwners }
}

test('a start that waits for its grant delays nobody else of the tenant', async () => {
  const sealed = Promise.withResolvers<void>()
  const { start, listOwners } = await openStarts({
    seal: (subject) => (subject === 'ann' ? sealed.promise : Promise.resolve()),
  })
  const first = start('ann')
  expect(isRefusal(await start('cal'))).toBe(false)
  expect(await listOwners()).toEqual(['cal'])
  sealed.resolve()
  expect(isRefusal(await first)).toBe(false)
  expect((await listOwners()).toSorted()).toEqual(['ann', 'cal'])
})

test('a start whose caller has left writes nothing once its turn comes', async () => {
  const kept: string[] = []
  const reached = Promise.withResolvers<void>()
  const writing = Promise.withResolvers<void>()
  const { start, listOwners } = await openStarts({
    async keep(run) {
      kept.push(run)
      reached.resolve()
      await writing.promise
    },
  })
  const first = start('ann')
  await reached.promise
  const left = new AbortController()
  const second = start('bob', left.signal)
  left.abort(refuse('timeout', 'the operation took too long'))
  writing.resolve()
  expect(await second).toMatchObject({ code: 'timeout' })
  expect(isRefusal(await first)).toBe(false)
  expect(kept).toHaveLength(1)
  expect(await listOwners()).toEqual(['ann'])
})
