// What the resolution role is given: the work of runs and of exchanges, and blinding.

import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { exchangeWork } from '../../roles/resolution/exchange/job/exchange-jobs.ts'
import { RegistryIndexCache } from '../../roles/resolution/lookup/registry-index-cache.ts'
import { SnapshotIndexCache } from '../../roles/resolution/lookup/snapshot-index-cache.ts'
import {
  registryIndexCachePart,
  runWork,
  snapshotIndexCachePart,
  snapshotStorePart,
} from '../../roles/resolution/parts.ts'
import { blindingPart } from '../../roles/resolution/privacy/blinding-part.ts'
import { threadedBlinding } from './blinding.ts'
import { openExchangeWork } from './exchange-work.ts'
import { openRunWork } from './run-work.ts'
import { fileSnapshotStore } from './snapshot-files.ts'

/** `monotonic`: milliseconds of a clock that never jumps. */
export function buildResolutionParts(
  folder: SiteFolder,
  resolved: ResolvedSettings,
  monotonic: () => number,
): [string, unknown][] {
  const runs = openRunWork(folder, resolved, monotonic)
  return [
    [runWork.name, runs],
    [exchangeWork.name, openExchangeWork(folder, resolved, runs)],
    [registryIndexCachePart.name, new RegistryIndexCache()],
    [snapshotStorePart.name, fileSnapshotStore(folder)],
    [snapshotIndexCachePart.name, new SnapshotIndexCache()],
    [blindingPart.name, threadedBlinding(resolved)],
  ]
}
