// One of the panes: its title, the rows that there is room for, or why there are none.
import { Box } from 'ink'
import { firstShown, widths } from '../layout.ts'
import type { Cell, Column, Table } from '../tables.ts'
import { Tinted } from './tinted.tsx'

type Props = {
  readonly title: string
  readonly table: Table
  readonly fault: string | undefined
  /** What to say when there are no rows, and nothing is wrong. */
  readonly none: string
  readonly selected: number
  readonly isFocused: boolean
  /** Rows of the table. */
  readonly height: number
  readonly columns: number
}

export function Pane({ title, table, fault, none, selected, isFocused, height, columns }: Props) {
  const { rows } = table
  const first = firstShown(selected, height, rows.length)
  const shown = rows.slice(first, first + height)
  const sizes = widths(table.columns, columns - 2)
  const headings = table.columns.map(({ heading }) => ({ text: heading, tone: 'faint' as const }))
  const range = rows.length > height ? `${first + 1}-${first + shown.length} of ${rows.length}` : `${rows.length}`
  return (
    <Box flexDirection="column" height={height + 2}>
      <Tinted text={`${isFocused ? '▌' : ' '}${title} (${range})`} isBold isInverse={isFocused} />
      <Line mark=" " cells={headings} columns={table.columns} sizes={sizes} isInverse={false} />
      {fault !== undefined && <Tinted text={`  ${fault}`} tone="bad" />}
      {fault === undefined && rows.length === 0 && <Tinted text={`  ${none}`} tone="faint" />}
      {shown.map(({ key, cells }, at) => (
        <Line
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

type LineProps = {
  readonly mark: string
  readonly cells: readonly Cell[]
  readonly columns: readonly Column[]
  readonly sizes: readonly number[]
  readonly isInverse: boolean
}

function Line({ mark, cells, columns, sizes, isInverse }: LineProps) {
  return (
    <Box columnGap={2} height={1}>
      {cells.map(({ text, tone }, at) => (
        <Box key={columns[at]?.heading} width={(sizes[at] ?? 0) + (at === 0 ? 2 : 0)} flexShrink={0}>
          <Tinted text={at === 0 ? `${mark} ${text}` : text} tone={tone} isInverse={isInverse && at === 0} />
        </Box>
      ))}
    </Box>
  )
}
