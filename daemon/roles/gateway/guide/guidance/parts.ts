// The part of the gateway that holds guidance in the memory of one process, ready to be attached.
import { part } from '../../../../kernel/role/part.ts'
import type { LineageQueue } from '../lineage/lineage-queue.ts'
import type { ArtifactIndex } from './artifact-index.ts'
import type { ToolCatalogues } from './usable-tools.ts'

export type GuidanceParts = {
  readonly index: ArtifactIndex
  readonly catalogues: ToolCatalogues
  readonly lineage: LineageQueue
}
export const guidancePart = part<GuidanceParts>('guide-guidance')
