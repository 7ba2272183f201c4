// What the resolution role is given: the work of runs and of exchanges, and blinding.
import type { Resolved } from '../../kernel/settings.ts'
import { exchangeWork } from '../../roles/resolution/exchange/deeds.ts'
import { Lookups } from '../../roles/resolution/lookup/held.ts'
import { SnapshotLookups } from '../../roles/resolution/lookup/in-snapshot.ts'
import { lookupsPart, runWork, snapshotLookupsPart, snapshotsPart } from '../../roles/resolution/parts.ts'
import { blindingPart } from '../../roles/resolution/privacy/part.ts'
import type { SiteFolder } from '../site-folder.ts'
import { blindingIn } from './blinding.ts'
import { exchangeWorkIn } from './exchange-work.ts'
import { runWorkIn } from './run-work.ts'
import { snapshotsIn } from './snapshot-files.ts'

/** `monotonic`: milliseconds of a clock that never jumps. */
export function resolutionParts(folder: SiteFolder, resolved: Resolved, monotonic: () => number): [string, unknown][] {
  const runs = runWorkIn(folder, resolved, monotonic)
  return [
    [runWork.name, runs],
    [exchangeWork.name, exchangeWorkIn(folder, resolved, runs)],
    [lookupsPart.name, new Lookups()],
    [snapshotsPart.name, snapshotsIn(folder)],
    [snapshotLookupsPart.name, new SnapshotLookups()],
    [blindingPart.name, blindingIn(resolved)],
  ]
}
