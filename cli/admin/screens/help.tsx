// What the keys do and what the columns mean.
import { Box } from 'ink'
import { Tinted } from '../parts/tinted.tsx'
import { states } from '../view.ts'

const lines = [
  'KEYS',
  '  tab, right / shift-tab, left   next or previous pane',
  '  j, down / k, up                next or previous row; in details, scroll',
  '  page down / page up, home, end ten rows, first, last',
  '  enter                          all that is known of the row, dissent explained',
  '  esc                            back',
  `  0                              all sessions; f goes through the states`,
  ...states.map((state, at) => `  ${at + 1}                              only ${state}`),
  '  q, ctrl-c                      quit',
  '',
  'COLUMNS',
  '  HEARD     contributors heard of n, and m that are needed',
  '  OWED      results, dissents and messages that are still on their way',
  '  NEXT      sequence number to come; HIGHEST the highest seen; GAPS missing',
  '  BACKLOG   messages that wait; REFUSED messages in quarantine',
]

export function Help({ scroll, height }: { readonly scroll: number; readonly height: number }) {
  const first = Math.max(0, Math.min(scroll, lines.length - height))
  return (
    <Box flexDirection="column" flexGrow={1}>
      {lines.slice(first, first + height).map((text) => (
        <Tinted key={text} text={text || ' '} />
      ))}
    </Box>
  )
}
