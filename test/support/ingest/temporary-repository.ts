// A real DAG repository on disk for one test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { LocalRepository } from '../../../adapters/dag-repository/local/local-repository.ts'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'
import { testLayout } from '../../conformance/dag-repository.ts'

type RepositoryMethod = 'propose' | 'check' | 'publish' | 'remove' | 'read'

/** Its folder is removed when the test ends. */
export function openTemporaryRepository(): LocalRepository {
  const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return new LocalRepository({
    ...{ gitdir: path.join(folder, 'dags.git'), layout: testLayout },
    check: async () => ({ state: 'passed' }),
    takeLock: () => takeLock(path.join(folder, 'dags.lock'), folder),
  })
}

/** For simulated time, which waits for the end of what it tracks. */
export function trackedRepository(
  repository: Pick<LocalRepository, RepositoryMethod>,
  track: <T>(work: Promise<T>) => Promise<T>,
): Pick<LocalRepository, RepositoryMethod> {
  return {
    propose: (...given) => track(repository.propose(...given)),
    check: (...given) => track(repository.check(...given)),
    publish: (...given) => track(repository.publish(...given)),
    remove: (...given) => track(repository.remove(...given)),
    read: (...given) => track(repository.read(...given)),
  }
}
