// Overlay above the panes: the details of a row or the help, scrollable.
import { Box } from 'ink'
import type { DetailLine } from '../detail.ts'
import { ToneText } from '../parts/tone-text.tsx'

type OverlayProps = { readonly lines: readonly DetailLine[]; readonly scroll: number; readonly height: number }

export function Overlay({ lines, scroll, height }: OverlayProps) {
  const firstLine = Math.max(0, Math.min(scroll, lines.length - height))
  return (
    <Box flexDirection="column" flexGrow={1}>
      {lines.slice(firstLine, firstLine + height).map(({ label, text, tone }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no key but its index
        <Box key={index} height={1}>
          <Box width={16} marginRight={1} flexShrink={0}>
            <ToneText text={label} isBold />
          </Box>
          <ToneText text={text} tone={tone} />
        </Box>
      ))}
    </Box>
  )
}
