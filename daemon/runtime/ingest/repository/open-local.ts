// A DAG repository on this machine whose code, with the git library, is loaded at its first use: most processes deploy nothing.
import type {
  LocalRepository,
  LocalRepositoryOptions,
} from '../../../../adapters/dag-repository/local/local-repository.ts'
import type { DagRepository } from '../../../shared/dag-repository/dag-repository.ts'

export function localRepository(options: LocalRepositoryOptions): DagRepository {
  let opened: Promise<LocalRepository> | undefined
  const open = () => {
    opened ??= import('../../../../adapters/dag-repository/local/local-repository.ts').then(
      (module) => new module.LocalRepository(options),
    )
    return opened
  }
  return {
    kind: 'local',
    propose: async (...given) => await (await open()).propose(...given),
    check: async (...given) => await (await open()).check(...given),
    publish: async (...given) => await (await open()).publish(...given),
    remove: async (...given) => await (await open()).remove(...given),
    read: async (...given) => await (await open()).read(...given),
    // As healthy as the disk of the store.
    probe: async () => undefined,
    close: () => undefined,
  }
}
