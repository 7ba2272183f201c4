// Formats the summary of a landed dataset: what landed, what was left out, and the next step.
import type { LandedDataset } from '../../daemon/kernel/data/landed-dataset.ts'
import { formatCount } from '../../daemon/kernel/text/format-count.ts'
import { formatFields, formatTable, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { quoteWord } from './quote-word.ts'

/** Columns that are listed. */
const max_columns = 40

/** `out`: folder of the dataset. */
export function formatLanding(terminal: Terminal, dataset: LandedDataset, out: string): string {
  const { columns, rows, files, inputs, rejects, widened } = dataset
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const table = columns.slice(0, max_columns).map(({ name, type, unit }) => {
    const reason = widened.find(({ column }) => column === name)
    return {
      column: name,
      type: unit ? `${type} (${unit})` : type,
      because: reason && describeReason(reason, inputs.length),
    }
  })
  const hasReasons = table.some(({ because }) => because !== undefined)
  const rest = columns.length > max_columns ? [`and ${columns.length - max_columns} more columns`] : []
  return [
    formatFields(terminal, {
      dataset: out,
      rows: `${rows} in ${formatCount(columns.length, 'column', 'columns')}`,
      from: inputs.map(({ name, rows: landed }) => (inputs.length === 1 ? name : `${name} (${landed})`)).join(', '),
      files: `${formatCount(files.length, 'file', 'files')} of Parquet, ${(bytes / 1_048_576).toFixed(1)} MiB`,
      left_out:
        rejects.rows > 0 ? `${formatCount(rejects.rows, 'record', 'records')}, see ${out}/rejects.jsonl` : 'none',
      next: `platform resolve lens init --data ${quoteWord(out)}`,
    }),
    formatTable(terminal, table, ['column', 'type', ...(hasReasons ? ['because'] : [])], 'no column'),
    ...rest,
  ].join(paragraph_break)
}

/** `line 3 is "n/a"` */
function describeReason({ input, place, unit, value }: LandedDataset['widened'][number], inputs: number): string {
  const where = place === undefined ? 'a value' : `${unit ?? 'line'} ${place}`
  return `${inputs > 1 ? `${input}, ` : ''}${where} is ${JSON.stringify(value.slice(0, 40))}`
}
