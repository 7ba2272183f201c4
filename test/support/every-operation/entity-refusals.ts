// Refusals about entities: a position whose later changes have expired, and relations where nothing was matched yet.
import { writeCursor } from '../../../daemon/kernel/store/list-cursor.ts'
import { entityChangeLogs, entityChanges } from '../../../daemon/roles/resolution/entity-change/model.ts'
import { batchStart } from '../../../daemon/roles/resolution/entity-change/recorded-changes.ts'
import { entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { postToResolution, type RefusalScenario } from './exchange-refusals.ts'
import { topSecretClearance } from './operation-fixture.ts'
import { buildLens } from './resolution-objects.ts'

const tenant_id = 'alpha'
const lens = 'people'

export const entityRefusals: Record<string, RefusalScenario> = {
  async 'resolution.entity-change.list wrong_state'(stage) {
    const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    const now = Date.now()
    const head = { tenant_id, batch: now, settled: now, pending: [], has_pending: 0 as const }
    if ((await store?.create(entityChangeLogs, tenant_id, head)) === 'exists')
      await store?.update(entityChangeLogs, tenant_id, ({ value }) => ({
        next: { ...value, settled: Math.max(value.settled, 2) },
        answer: undefined,
      }))
    const viewer = { tenant_id, clearance: { ...topSecretClearance.clearance, categories: [] } }
    const query = { filter: { lens }, limit: 1, read_scope: { viewer, policy: { levels: [] } as never } }
    const since = writeCursor(entityChanges.name, query, { value: batchStart(1), id: '' })
    return await stage.site.request('resolution', {
      method: 'GET',
      path: `/api/v2/entity_change?lens=${lens}&since=${since}`,
      token: stage.admin,
    })
  },
  async 'resolution.entity.related wrong_state'(stage) {
    const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    const name = 'never-matched'
    const { json } = await postToResolution(stage, '/lens', { body: { ...buildLens('1.0.0'), lens: name } })
    const known = await store?.get(entityClusters, stage.resolution.cluster)
    const uid = `ent_${'7'.repeat(32)}`
    if (known)
      await store?.create(entityClusters, uid, { ...known.value, lens: name, lens_id: (json as { uid: string }).uid })
    return await stage.site.request('resolution', {
      method: 'GET',
      path: `/api/v2/entity_cluster/${uid}/related?by=surname`,
      token: stage.admin,
    })
  },
}
