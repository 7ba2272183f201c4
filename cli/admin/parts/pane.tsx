// One pane: its title, and the rows that fit or the reason for their absence.
import { Box } from 'ink'
import { exactTotal } from '../../../daemon/kernel/operation/paging.ts'
import type { DocumentTotal } from '../../../daemon/kernel/store/store.ts'
import { formatTotal } from '../../client/format-total.ts'
import type { PaneCell, PaneColumn } from '../cells.ts'
import { computeColumnWidths, computeFirstRow } from '../layout.ts'
import type { PaneTable } from '../tables.ts'
import { ToneText } from './tone-text.tsx'

type PaneProps = {
  readonly title: string
  /** Shows the same without a screen. */
  readonly command: string
  readonly table: PaneTable
  readonly fault: string | undefined
  /** Number of rows in the whole list, of which the table has the first. */
  readonly total: DocumentTotal | undefined
  /** Text for a pane without rows and without a fault. */
  readonly emptyText: string
  readonly selected: number
  readonly isFocused: boolean
  /** Rows of the table. */
  readonly height: number
  readonly columns: number
}

export function Pane({
  title,
  command,
  table,
  total,
  fault,
  emptyText,
  selected,
  isFocused,
  height,
  columns,
}: PaneProps) {
  const { rows } = table
  const firstRow = computeFirstRow(selected, height, rows.length)
  const visible = rows.slice(firstRow, firstRow + height)
  const widths = computeColumnWidths(table.columns, columns - 2)
  const headings = table.columns.map(({ heading }) => ({ text: heading, tone: 'faint' as const }))
  const range = formatRange(
    rows.length > height ? `${firstRow + 1}-${firstRow + visible.length}` : '',
    rows.length,
    total,
  )
  return (
    <Box flexDirection="column" height={height + 2}>
      <Box columnGap={2} height={1}>
        <Box flexShrink={0}>
          <ToneText text={`${isFocused ? '▌' : ' '}${title} (${range})`} isBold isInverse={isFocused} />
        </Box>
        <ToneText text={command} tone="faint" />
      </Box>
      <PaneLine mark=" " cells={headings} columns={table.columns} widths={widths} isInverse={false} />
      {fault !== undefined && <ToneText text={`  ${fault}`} tone="bad" />}
      {fault === undefined && rows.length === 0 && <ToneText text={`  ${emptyText}`} tone="faint" />}
      {visible.map(({ key, cells }, index) => (
        <PaneLine
          key={key}
          mark={firstRow + index === selected ? '>' : ' '}
          cells={cells}
          columns={table.columns}
          widths={widths}
          isInverse={isFocused && firstRow + index === selected}
        />
      ))}
    </Box>
  )
}

/** `1-20 of 1,034`, or the number of rows where the pane shows all of the list. */
export function formatRange(shown: string, rows: number, total: DocumentTotal = exactTotal(rows)): string {
  const all = formatTotal({ ...total, total: Math.max(total.total, rows) })
  if (shown !== '') return `${shown} of ${all}`
  return total.total > rows ? `${rows} of ${all}` : all
}

type PaneLineProps = {
  readonly mark: string
  readonly cells: readonly PaneCell[]
  readonly columns: readonly PaneColumn[]
  readonly widths: readonly number[]
  readonly isInverse: boolean
}

function PaneLine({ mark, cells, columns, widths, isInverse }: PaneLineProps) {
  return (
    <Box columnGap={2} height={1}>
      {cells.map(({ text, tone }, index) => (
        <Box key={columns[index]?.heading} width={(widths[index] ?? 0) + (index === 0 ? 2 : 0)} flexShrink={0}>
          <ToneText text={index === 0 ? `${mark} ${text}` : text} tone={tone} isInverse={isInverse && index === 0} />
        </Box>
      ))}
    </Box>
  )
}
