// One of the panes: its title, the rows that there is room for, or why there are none.
import { Box } from 'ink'
import { computeColumnWidths, computeFirstRow } from '../layout.ts'
import type { PaneCell, PaneColumn, PaneTable } from '../tables.ts'
import { ToneText } from './tone-text.tsx'

type PaneProps = {
  readonly title: string
  readonly table: PaneTable
  readonly fault: string | undefined
  /** What to say when there are no rows, and nothing is wrong. */
  readonly none: string
  readonly selected: number
  readonly isFocused: boolean
  /** Rows of the table. */
  readonly height: number
  readonly columns: number
}

export function Pane({ title, table, fault, none, selected, isFocused, height, columns }: PaneProps) {
  const { rows } = table
  const first = computeFirstRow(selected, height, rows.length)
  const shown = rows.slice(first, first + height)
  const sizes = computeColumnWidths(table.columns, columns - 2)
  const headings = table.columns.map(({ heading }) => ({ text: heading, tone: 'faint' as const }))
  const range = rows.length > height ? `${first + 1}-${first + shown.length} of ${rows.length}` : `${rows.length}`
  return (
    <Box flexDirection="column" height={height + 2}>
      <ToneText text={`${isFocused ? '▌' : ' '}${title} (${range})`} isBold isInverse={isFocused} />
      <PaneLine mark=" " cells={headings} columns={table.columns} sizes={sizes} isInverse={false} />
      {fault !== undefined && <ToneText text={`  ${fault}`} tone="bad" />}
      {fault === undefined && rows.length === 0 && <ToneText text={`  ${none}`} tone="faint" />}
      {shown.map(({ key, cells }, at) => (
        <PaneLine
          key={key}
          mark={first + at === selected ? '>' : ' '}
          cells={cells}
          columns={table.columns}
          sizes={sizes}
          isInverse={isFocused && first + at === selected}
        />
      ))}
    </Box>
  )
}

type PaneLineProps = {
  readonly mark: string
  readonly cells: readonly PaneCell[]
  readonly columns: readonly PaneColumn[]
  readonly sizes: readonly number[]
  readonly isInverse: boolean
}

function PaneLine({ mark, cells, columns, sizes, isInverse }: PaneLineProps) {
  return (
    <Box columnGap={2} height={1}>
      {cells.map(({ text, tone }, at) => (
        <Box key={columns[at]?.heading} width={(sizes[at] ?? 0) + (at === 0 ? 2 : 0)} flexShrink={0}>
          <ToneText text={at === 0 ? `${mark} ${text}` : text} tone={tone} isInverse={isInverse && at === 0} />
        </Box>
      ))}
    </Box>
  )
}
