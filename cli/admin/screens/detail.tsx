// What enter shows: all that is known of the selected row, scrolled where it is long.
import { Box } from 'ink'
import type { Answered } from '../../client/client.ts'
import { detailOf } from '../detail.ts'
import { Tinted } from '../parts/tinted.tsx'
import type { View } from '../view.ts'

type Props = {
  readonly view: View
  /** Undefined once the row is gone. */
  readonly item: Answered | undefined
  readonly prose: string | undefined
  readonly columns: number
  readonly height: number
}

export function Detail({ view, item, prose, columns, height }: Props) {
  if (!item) return <Tinted text="it is not listed any more; esc goes back" tone="warn" />
  const lines = detailOf(view.pane, item, prose, columns)
  const first = Math.max(0, Math.min(view.scroll, lines.length - height))
  return (
    <Box flexDirection="column" flexGrow={1}>
      {lines.slice(first, first + height).map(({ label, text, tone }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
        <Box key={at} height={1}>
          <Box width={16} flexShrink={0}>
            <Tinted text={label} isBold />
          </Box>
          <Tinted text={text} tone={tone} />
        </Box>
      ))}
    </Box>
  )
}
