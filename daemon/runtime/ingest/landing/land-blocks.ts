// Lands rows that a step makes as a dataset: under the columns that it derived, whole or not at all.
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DatasetInput, LandedDataset } from '../../../kernel/data/landed-dataset.ts'
import { DatasetFiles } from './dataset-files.ts'
import { DatasetFolder } from './dataset-folder.ts'
import { LandingError } from './landing-error.ts'
import { OriginLog } from './origin-log.ts'
import type { RejectLimit } from './reject-limit.ts'
import { RejectLog } from './reject-log.ts'
import { writeManifest } from './write-manifest.ts'

/** Where a dataset is made. */
export type DatasetPlace = {
  /** Its new folder. */
  readonly out: string
  /** Where it is until it is whole: a folder of the same disk. */
  readonly drafts: string
  readonly onDrafted: () => void
}

/** Rows that a step makes. */
export type MadeBlock = DataBlock & {
  /** For each input, the row of it that each row comes from; 0 for none. Absent: `lines` are rows of the first input, if there are any. */
  readonly origins?: readonly Int32Array[]
}

export type BlockLanding = DatasetPlace & {
  readonly columns: DataSchema
  readonly limit: RejectLimit
  /** Makes the rows; those that it leaves out go to the log. */
  make(rejects: RejectLog): AsyncIterable<MadeBlock>
  /** Describes where they come from, once all are made. */
  describe(rejects: number): Pick<LandedDataset, 'checks' | 'cursor'> & { readonly inputs: DatasetInput[] }
}

/** As many as a reader takes. */
const max_rows = 2_000_000_000

/** Throws `LandingError`, and what making the rows throws. The same rows give the same bytes. */
export async function landBlocks(landing: BlockLanding): Promise<void> {
  const { out, drafts, onDrafted, columns, limit, make, describe } = landing
  const folder = new DatasetFolder(out, (action) => action(), drafts)
  try {
    const rejects = new RejectLog(folder, limit)
    const files = await DatasetFiles.open(folder, columns)
    const origins: OriginLog[] = []
    for await (const block of make(rejects)) {
      if (block.rows > 0) files.write(block)
      for (const [input, places] of originsOf(block).entries()) {
        origins[input] ??= new OriginLog(folder, input + 1)
        origins[input].add(input, block.rows, places)
      }
      if (files.rows > max_rows) throw new LandingError(`the dataset would have more than ${max_rows} rows`)
      rejects.check(files.rows, false)
    }
    rejects.check(files.rows, true)
    const rows = files.rows
    const written = [...files.finish()]
    const file = rejects.finish()
    const left_out = { rows: rejects.count, ...(file && { file }) }
    const { inputs, checks, cursor } = describe(rejects.count)
    const content = { columns: [...columns], rows, files: written, inputs, rejects: left_out, widened: [] }
    const places = origins.flatMap((log) => log.finish() ?? [])
    writeManifest(folder, { ...content, origins: places, ...(checks && { checks }), ...(cursor && { cursor }) })
    onDrafted()
    folder.publish()
  } finally {
    folder.discard()
  }
}

function originsOf({ origins, lines }: MadeBlock): readonly Int32Array[] {
  return origins ?? (lines ? [lines] : [])
}
