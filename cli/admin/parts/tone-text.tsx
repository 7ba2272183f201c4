// One line of text, coloured by its tone if the terminal allows colours.
import { Text } from 'ink'
import { createContext, useContext } from 'react'
import { escapeLine } from '../../../daemon/kernel/text/escape-line.ts'
import type { Tone } from '../cells.ts'

/** Whether to use colours; Ink itself does not read NO_COLOR. */
export const ColourContext = createContext(false)

const toneColours = { good: 'green', bad: 'red', warn: 'yellow', faint: 'gray' } as const

type ToneTextProps = {
  readonly text: string
  readonly tone?: Tone | undefined
  readonly isBold?: boolean
  readonly isInverse?: boolean
}

/** One line of text, truncated to fit: the only way onto the screen, past which no text from outside gets as it is. */
export function ToneText({ text, tone, isBold = false, isInverse = false }: ToneTextProps) {
  const colour = useContext(ColourContext) && tone ? { color: toneColours[tone] } : {}
  return (
    <Text wrap="truncate-end" bold={isBold} inverse={isInverse} {...colour}>
      {escapeLine(text)}
    </Text>
  )
}
