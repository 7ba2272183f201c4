// The health of the workflow scheduler: that of the embedded one, which is that of its store, and the dependency of the role.
import type { Dependency } from '../../kernel/role/dependency.ts'
import type { Store } from '../../kernel/store/store.ts'
import type { WorkflowHealth, WorkflowScheduler } from '../../shared/workflow-scheduler/workflow-scheduler.ts'

export async function checkEmbeddedScheduler(store: Pick<Store, 'health'>): Promise<WorkflowHealth> {
  const { ok, detail } = await store.health()
  return { scheduler: 'healthy', ...(ok ? { metadatabase: 'healthy' } : { metadatabase: 'unhealthy', detail }) }
}

/** Boot gives it three seconds, as to every dependency: one that does not answer by then is down, and the role degraded. */
export function schedulerDependency(scheduler: Pick<WorkflowScheduler, 'kind' | 'health'>): Dependency {
  return {
    name: 'workflow scheduler',
    async probe(signal) {
      const health = await scheduler.health(signal)
      const isDown = health.scheduler === 'unhealthy'
      const state = isDown ? 'down' : health.metadatabase === 'unhealthy' ? 'degraded' : 'ok'
      return { state, detail: health.detail ?? `${scheduler.kind}: ${isDown ? 'unhealthy' : 'answers'}` }
    },
  }
}
