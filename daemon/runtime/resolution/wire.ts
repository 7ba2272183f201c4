// Wires the resolution role to adapters: threads for runs and exchanges, files of snapshots, and blinding.
import type { RoleWire } from '../../boot/role-wire.ts'
import { FairTurns } from '../../kernel/role/fair-turns.ts'
import { observedDependenciesPart } from '../../kernel/role/observed-dependencies.ts'
import { watchedFoldersPart } from '../../roles/resolution/arrival-folder/watched-folder.ts'
import { exchangeWork } from '../../roles/resolution/exchange/job/exchange-jobs.ts'
import { RegistryIndexCache } from '../../roles/resolution/lookup/registry-index-cache.ts'
import { SnapshotIndexCache } from '../../roles/resolution/lookup/snapshot-index-cache.ts'
import { matchingThreadPart } from '../../roles/resolution/matching-thread/request-job.ts'
import {
  peerDecisionProgressPart,
  refusedRegistriesPart,
  registryIndexCachePart,
  runWork,
  snapshotIndexCachePart,
  snapshotStorePart,
  type WorkTurns,
  workTurnsPart,
} from '../../roles/resolution/parts.ts'
import { PeerDecisionProgress } from '../../roles/resolution/peer-decision/progress.ts'
import { blindingPart } from '../../roles/resolution/privacy/blinding-part.ts'
import { findFolderProblems, openWatchedFolders } from './arrivals/open-watched-folders.ts'
import { threadedBlinding } from './exchange/blinding.ts'
import { openExchangeWork } from './exchange/exchange-work.ts'
import { fileSnapshotStore } from './files/snapshot-files.ts'
import { openMatchingThread } from './open-matching-thread.ts'
import { openRunWork } from './run-work.ts'

const createWorkTurns = (): WorkTurns => ({
  arrivals: new FairTurns(),
  registries: new FairTurns(),
})

export const wire: RoleWire = {
  findStartProblems: async ({ resolved }) => findFolderProblems(resolved),
  async open({ resources, log }) {
    const { folder, resolved } = resources
    const runs = openRunWork(resources)
    const arrivals = openWatchedFolders(resolved, log)
    const matching = openMatchingThread(resolved)
    return {
      parts: [
        [runWork.name, runs],
        [exchangeWork.name, openExchangeWork(folder, resolved, runs)],
        [matchingThreadPart.name, matching],
        [workTurnsPart.name, createWorkTurns()],
        [refusedRegistriesPart.name, new Map()],
        [registryIndexCachePart.name, new RegistryIndexCache()],
        [peerDecisionProgressPart.name, new PeerDecisionProgress()],
        [snapshotStorePart.name, fileSnapshotStore(folder)],
        [snapshotIndexCachePart.name, new SnapshotIndexCache()],
        [watchedFoldersPart.name, arrivals.folders],
        [observedDependenciesPart.name, arrivals.dependencies],
        [blindingPart.name, threadedBlinding(resolved)],
      ],
      dependencies: arrivals.dependencies.list(),
      stop: async () => {
        await arrivals.stop()
        await matching.close()
      },
    }
  },
}
