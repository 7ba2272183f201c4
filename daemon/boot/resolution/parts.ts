// What the resolution role is given: the work of runs, data files, and blinding.
import type { Resolved } from '../../kernel/settings.ts'
import { Lookups } from '../../roles/resolution/lookup/held.ts'
import { SnapshotLookups } from '../../roles/resolution/lookup/in-snapshot.ts'
import {
  dataFilesPart,
  lookupsPart,
  runWork,
  snapshotLookupsPart,
  snapshotsPart,
} from '../../roles/resolution/parts.ts'
import { blindingPart } from '../../roles/resolution/privacy/part.ts'
import type { SiteFolder } from '../site-folder.ts'
import { blindingIn } from './blinding.ts'
import { dataFilesIn } from './data-files.ts'
import { runWorkIn } from './run-work.ts'
import { snapshotsIn } from './snapshot-files.ts'

/** `monotonic`: milliseconds of a clock that never jumps. */
export function resolutionParts(folder: SiteFolder, resolved: Resolved, monotonic: () => number): [string, unknown][] {
  return [
    [runWork.name, runWorkIn(folder, resolved, monotonic)],
    [dataFilesPart.name, dataFilesIn(resolved)],
    [lookupsPart.name, new Lookups()],
    [snapshotsPart.name, snapshotsIn(folder)],
    [snapshotLookupsPart.name, new SnapshotLookups()],
    [blindingPart.name, blindingIn(resolved)],
  ]
}
