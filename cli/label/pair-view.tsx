// Two records side by side, field by field, with the words in which they differ.
import { Box } from 'ink'
import { escapeLine } from '../../daemon/kernel/text/escape-line.ts'
import { ToneText } from '../admin/parts/tone-text.tsx'
import { layOutParts, markDifferences, type ValuePart } from './difference.ts'
import type { LabelField, LabelQuestion } from './label-dialogue.ts'

type PairViewProps = {
  readonly question: LabelQuestion
  readonly columns: number
  /** Lines that the view may take. */
  readonly height: number
}

const max_name_width = 14
const mark_width = 2

/** The view of a pair. All lines of a value fit beside each other; what does not fit ends with dots. */
export function PairView({ question: { left, right, fields }, columns, height }: PairViewProps) {
  const name_width = Math.min(max_name_width, Math.floor(columns / 5))
  const width = Math.max(4, Math.floor((columns - name_width - mark_width - 2) / 2))
  const rows = [
    { name: 'record', mark: '', left: plain(left.id), right: plain(right.id) },
    ...(left.source === right.source
      ? []
      : [{ name: 'source', mark: '', left: plain(left.source), right: plain(right.source) }]),
    ...fields.map(toViewRow),
  ]
  const lines = divideLines(rows, width, Math.max(1, height))
  return (
    <Box flexDirection="column">
      {lines.map(({ name, mark, left: one, right: other }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no key but its index
        <Box key={index} height={1}>
          <Box width={name_width} flexShrink={0} overflow="hidden">
            <ToneText text={name} tone="faint" />
          </Box>
          <Box width={mark_width} flexShrink={0}>
            <ToneText text={mark} isBold={mark === '!'} />
          </Box>
          <PartLine parts={one} width={width} />
          <Box width={2} flexShrink={0} />
          <PartLine parts={other} width={width} />
        </Box>
      ))}
    </Box>
  )
}

function PartLine({ parts, width }: { readonly parts: readonly ValuePart[]; readonly width: number }) {
  return (
    <Box width={width} flexShrink={0} overflow="hidden">
      {parts.map(({ text, differs }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part has no key but its index
        <Box key={index} flexShrink={0}>
          <ToneText text={text} isInverse={differs} />
        </Box>
      ))}
    </Box>
  )
}

type ViewRow = {
  readonly name: string
  readonly mark: string
  readonly left: readonly ValuePart[]
  readonly right: readonly ValuePart[]
}

const plain = (text: string): ValuePart[] => [{ text: escapeLine(text), differs: false }]

function toViewRow({ name, left, right, level }: LabelField): ViewRow {
  const [one, other] = [escapeLine(left ?? ''), escapeLine(right ?? '')]
  const mark = left === undefined || right === undefined ? '' : (marks[level] ?? '~')
  if (mark === '') return { name, mark, left: plain(one), right: plain(other) }
  return { name, mark, left: markDifferences(one, other), right: markDifferences(other, one) }
}

const marks: Readonly<Record<string, string>> = { equal: '=', different: '!' }

/** Gives every value one line, and the lines that are left to the values that need more, in turn. */
function divideLines(rows: readonly ViewRow[], width: number, height: number): ViewRow[] {
  const counted = rows.slice(0, height).map((row) => {
    const needs = Math.max(layOutParts(row.left, width, height).length, layOutParts(row.right, width, height).length)
    return { row, needs, lines: 1 }
  })
  for (let spare = height - counted.length; spare > 0; spare--) {
    const open = counted.filter(({ lines, needs }) => lines < needs)
    const least = open.reduce<(typeof open)[number] | undefined>(
      (best, next) => (best && best.lines <= next.lines ? best : next),
      undefined,
    )
    if (!least) break
    least.lines++
  }
  return counted.flatMap(({ row, lines: given }) => {
    const [left, right] = [layOutParts(row.left, width, given), layOutParts(row.right, width, given)]
    return Array.from({ length: Math.max(left.length, right.length) }, (_, line) => ({
      name: line === 0 ? row.name : '',
      mark: line === 0 ? row.mark : '',
      left: left[line] ?? [],
      right: right[line] ?? [],
    }))
  })
}
