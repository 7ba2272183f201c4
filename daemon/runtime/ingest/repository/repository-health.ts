// The DAG repository as a dependency of the role: pipelines that are live run without it.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Dependency } from '../../../kernel/role/dependency.ts'
import type { DagRepository } from '../../../shared/dag-repository/dag-repository.ts'

/** Boot gives it three seconds, as to every dependency. */
export function repositoryDependency(repository: Pick<DagRepository, 'kind' | 'probe'>): Dependency {
  return {
    name: 'DAG repository',
    async probe(signal) {
      try {
        await repository.probe(signal)
        return { state: 'ok', detail: `${repository.kind}: answers` }
      } catch (error) {
        return { state: 'degraded', detail: isRefusal(error) ? error.message : `${repository.kind}: does not answer` }
      }
    },
  }
}
