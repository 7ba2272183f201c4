// What lies over the panes: the details of a row or the help, scrolled where it is long.
import { Box } from 'ink'
import type { DetailLine } from '../detail.ts'
import { ToneText } from '../parts/tone-text.tsx'

type OverlayProps = { readonly lines: readonly DetailLine[]; readonly scroll: number; readonly height: number }

export function Overlay({ lines, scroll, height }: OverlayProps) {
  const first = Math.max(0, Math.min(scroll, lines.length - height))
  return (
    <Box flexDirection="column" flexGrow={1}>
      {lines.slice(first, first + height).map(({ label, text, tone }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
        <Box key={at} height={1}>
          <Box width={16} flexShrink={0}>
            <ToneText text={label} isBold />
          </Box>
          <ToneText text={text} tone={tone} />
        </Box>
      ))}
    </Box>
  )
}
